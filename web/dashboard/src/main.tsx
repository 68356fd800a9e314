/** Starts the pages. */
import { render } from 'preact';
import { App } from './app.js';
import './style/style.css';

const place = document.getElementById('dashboard');
if (place) render(<App />, place);
