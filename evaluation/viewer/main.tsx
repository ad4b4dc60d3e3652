import { render } from 'preact';
import { App } from './app.tsx';

const root = document.getElementById('page');
if (root !== null)
  render(<App data={JSON.parse(document.getElementById('data')?.textContent ?? '{}')} />, root);
