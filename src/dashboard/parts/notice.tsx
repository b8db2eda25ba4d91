// Messages in place of a chart or a list: that there is nothing to show, or why there is no answer.
import type { ComponentChildren } from 'preact';
import type { Failure } from '../service/failure.ts';
import { VanishingButton } from './vanishing-button.tsx';

interface NoticeProps {
  title: string;
  children?: ComponentChildren;
}

export function Notice({ title, children }: NoticeProps) {
  return (
    <div class="notice">
      <p class="notice-title">{title}</p>
      {children}
    </div>
  );
}

export function FailureNotice({ failure, onRetry }: { failure: Failure; onRetry: () => void }) {
  return (
    <div class="notice" role="alert">
      <p class="notice-title">{failure.message}</p>
      {failure.details.length > 0 && (
        <ul class="notice-details">
          {failure.details.map((detail) => (
            <li key={detail}>{detail}</li>
          ))}
        </ul>
      )}
      {failure.kind !== 'invalid' && <VanishingButton onClick={onRetry}>Try again</VanishingButton>}
    </div>
  );
}
