// Links to every view: beside the content, or behind a menu button if the page is narrow.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ChartRecord } from './service/answers.ts';
import { useService } from './service/use-service.ts';
import { writeAddress } from './view/address.ts';
import { FEED, switchChart, type View } from './view/view.ts';

function groupCharts(charts: readonly ChartRecord[]): Map<string, ChartRecord[]> {
  const groups = new Map<string, ChartRecord[]>();
  for (const chart of charts) groups.set(chart.group, [...(groups.get(chart.group) ?? []), chart]);
  return groups;
}

interface EntryProps {
  view: View;
  title: string;
  isCurrent: boolean;
  onFollow: () => void;
}

function Entry({ view, title, isCurrent, onFollow }: EntryProps) {
  return (
    <li>
      <a href={writeAddress(view)} aria-current={isCurrent ? 'page' : undefined} onClick={onFollow}>
        {title}
      </a>
    </li>
  );
}

/** The state of the menu on narrow pages. Following any of its links, going to another view and Escape all close it. */
function useMenu(current: string) {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => setOpen(false), [current]);

  function close() {
    setOpen(false);
    // The focused element is about to be hidden. On wide pages the button is hidden and cannot take the focus.
    button.current?.focus();
  }

  // Before paint, so that Escape works as soon as the menu is visible.
  useLayoutEffect(() => {
    if (!isOpen) return;
    const listen = ({ key }: KeyboardEvent) => {
      if (key === 'Escape') close();
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, [isOpen]);

  return { isOpen, button, close, toggle: () => setOpen(!isOpen) };
}

export function Navigation({ view, onSignOut }: { view: View; onSignOut: () => void }) {
  const { catalogue } = useService();
  const current = view.page === 'chart' ? view.chart_id : view.page;
  const { isOpen, button, close, toggle } = useMenu(current);

  return (
    <header class="side">
      <div class="side-top">
        <a class="brand" href="#/">
          <svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
            <rect width="32" height="32" rx="7" />
            <path d="M7 22l6-7 5 4 7-10" />
          </svg>
          Dashboard
        </a>
        <button type="button" class="quiet" onClick={onSignOut}>
          Sign out
        </button>
        <button ref={button} type="button" class="menu" aria-expanded={isOpen} aria-controls="menu" onClick={toggle}>
          Menu
        </button>
      </div>
      <nav id="menu" class={isOpen ? 'open' : ''} aria-label="Views">
        <ul>
          <Entry view={{ page: 'overview' }} title="Overview" isCurrent={current === 'overview'} onFollow={close} />
          <Entry view={FEED} title="Events" isCurrent={current === 'events'} onFollow={close} />
        </ul>
        {[...groupCharts(catalogue.charts)].map(([group, charts]) => (
          <section key={group}>
            <h2>{group}</h2>
            <ul>
              {charts.map((chart) => (
                <Entry
                  key={chart.chart_id}
                  view={switchChart(view, chart)}
                  title={chart.metric_name}
                  isCurrent={current === chart.chart_id}
                  onFollow={close}
                />
              ))}
            </ul>
          </section>
        ))}
      </nav>
    </header>
  );
}
