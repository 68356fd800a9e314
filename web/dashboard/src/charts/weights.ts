/** Chart of the weight of the opt-in users by the probability of a query or record. */

import { rowText } from '@blender-dp/pages/cells.js';
import { percent, plain } from '@blender-dp/pages/numbers.js';
import { isOutside, WEIGHTS_DRAWN } from '@blender-dp/pages/weights.js';
import type { Estimate } from '../api/documents.js';
import type { Draw } from '../parts/chart.js';
import { shortened } from './rows.js';

export function drawWeights(rows: readonly Estimate[]): Draw {
  const shown = rows.filter(
    ({ opt_in_weight, probability }) => opt_in_weight !== null && probability > 0,
  );
  const sizes = shown.map(({ opt_in_weight }) => opt_in_weight ?? 0);
  const domain = [
    Math.max(Math.min(0, ...sizes), WEIGHTS_DRAWN.least),
    Math.min(Math.max(1, ...sizes), WEIGHTS_DRAWN.most),
  ];
  return (plot, width) => ({
    width,
    height: Math.min(Math.max(width * 0.5, 260), 380),
    marginLeft: 48,
    marginTop: 34,
    marginBottom: 44,
    marginRight: 20,
    x: {
      type: 'log',
      label: 'Probability',
      tickFormat: (value: number) => `${plain(value * 100)} %`,
      ticks: Math.max(Math.floor(width / 140), 2),
      grid: true,
      nice: true,
    },
    y: { domain, clamp: true, label: 'Weight of the opt-in users', tickFormat: '.0%', grid: true },
    marks: [
      // The probability is an estimate: its interval lies behind the dot.
      plot.ruleY(
        shown.filter(({ low }) => low !== null && low > 0),
        { y: 'opt_in_weight', x1: 'low', x2: 'high', stroke: 'var(--opt-in)', strokeOpacity: 0.3 },
      ),
      plot.dot(shown, {
        x: 'probability',
        y: 'opt_in_weight',
        fill: (row: Estimate) => (isOutside(row) ? 'var(--surface)' : 'var(--opt-in)'),
        stroke: (row: Estimate) => (isOutside(row) ? 'var(--danger)' : 'none'),
        symbol: (row: Estimate) => (isOutside(row) ? 'diamond' : 'circle'),
        fillOpacity: 0.75,
        r: 3,
        title: (row: Estimate) =>
          `${shortened(rowText(row), 60)}\n${percent(row.probability)}, weight ${percent(row.opt_in_weight)}`,
        tip: width > 500,
      }),
    ],
  });
}
