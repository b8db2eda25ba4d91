// Entry point: loads the styles and renders the page.
import { render } from 'preact';
import { Page } from './page.tsx';
import 'uplot/dist/uPlot.min.css';
import './style/tokens.css';
import './style/base.css';
import './style/layout.css';
import './style/controls.css';
import './style/dialog.css';
import './style/overview.css';
import './style/series.css';
import './style/chart.css';
import './style/feed.css';
import './style/print.css';

render(<Page />, document.getElementById('page')!);
