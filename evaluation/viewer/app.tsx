import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { PageContent, PageOrigin } from '../report/page-data.ts';
import { FolderPage } from './folder-page.tsx';
import { formatDate, showHidden, toLine } from './format.ts';
import { LivePage } from './live/live-page.tsx';
import { ResultPage } from './result-page.tsx';

/** The whole of a page, whatever it shows. */
export function App({ data }: { readonly data: PageContent & PageOrigin }) {
  return (
    <Shell origin={data}>
      {data.kind === 'live' ? (
        <LivePage title={data.title} />
      ) : data.kind === 'folder' ? (
        <FolderPage page={data} />
      ) : (
        <ResultPage report={data} />
      )}
    </Shell>
  );
}

interface ShellProps {
  readonly origin: PageOrigin;
  readonly children: ComponentChildren;
}

/** The frame of every page: a bar with the names of its parts, and below it the answer. */
function Shell({ origin, children }: ShellProps) {
  const [parts, setParts] = useState<readonly { id: string; name: string }[]>([]);
  const main = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const find = () => {
      const named = [...document.querySelectorAll<HTMLElement>('[data-nav]')];
      const found = named.map(({ id, dataset }) => ({ id, name: dataset.nav ?? '' }));
      setParts((before) => (JSON.stringify(before) === JSON.stringify(found) ? before : found));
    };
    find();
    if (main.current === null) return;
    const observer = new MutationObserver(find);
    observer.observe(main.current, { childList: true, subtree: true });
    return () => observer.disconnect();
  }, []);
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="bar">
        <span class="brand">
          <Mark />
          Gaia Mesh
        </span>
        {origin.isListed ? <a href="../../">All results</a> : null}
        {parts.length < 2 ? null : (
          <nav aria-label="Parts of this page">
            {parts.map(({ id, name }) => (
              <a key={id} href={`#${id}`}>
                {name}
              </a>
            ))}
          </nav>
        )}
      </header>
      <main id="main" ref={main}>
        {children}
      </main>
      <footer>
        {`Gaia Mesh ${origin.version}. This page was made on ${formatDate(origin.madeAt)} by `}
        <code>{showHidden(origin.command)}</code>
        {` on ${toLine(origin.machine, 120)}. Nothing on it leaves this machine.`}
      </footer>
    </>
  );
}

function Mark() {
  return (
    <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
      <path d="M10 10 4 4M10 10l6-6M10 10l-6 6M10 10l6 6" />
      <circle cx="10" cy="10" r="3" />
      <circle cx="4" cy="4" r="2" />
      <circle cx="16" cy="4" r="2" />
      <circle cx="4" cy="16" r="2" />
      <circle cx="16" cy="16" r="2" />
    </svg>
  );
}
