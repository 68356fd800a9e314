/** Chart of the weight of the opt-in users by the probability of a record. */

import { rowText } from '@blender-dp/pages/cells.js';
import { percent, plain } from '@blender-dp/pages/numbers.js';
import type { Estimate } from '../api/documents.js';
import type { Draw } from '../parts/chart.js';
import { shortened } from './rows.js';

export function drawWeights(rows: readonly Estimate[]): Draw {
  const shown = rows.filter(
    ({ opt_in_weight, probability }) => opt_in_weight !== null && probability > 0,
  );
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
    y: { domain: [0, 1], label: 'Weight of the opt-in users', tickFormat: '.0%', grid: true },
    marks: [
      // The probability is an estimate: its interval lies behind the dot.
      plot.ruleY(
        shown.filter(({ low }) => low !== null && low > 0),
        { y: 'opt_in_weight', x1: 'low', x2: 'high', stroke: 'var(--opt-in)', strokeOpacity: 0.3 },
      ),
      plot.dot(shown, {
        x: 'probability',
        y: 'opt_in_weight',
        fill: 'var(--opt-in)',
        fillOpacity: 0.75,
        r: 3,
        title: (row: Estimate) =>
          `${shortened(rowText(row), 60)}\n${percent(row.probability)}, weight ${percent(row.opt_in_weight)}`,
        tip: width > 500,
      }),
    ],
  });
}
