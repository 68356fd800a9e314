/** Chart of the weights of the groups by the probability of a query or record. */

import { rowText } from '@blender-dp/pages/cells.js';
import { isNumber, percent, plain } from '@blender-dp/pages/numbers.js';
import {
  isOutside,
  WEIGHTS_DRAWN,
  type WeighedGroup,
  weightSeries,
} from '@blender-dp/pages/weights.js';
import type { Estimate } from '../api/documents.js';
import type { Draw } from '../parts/chart.js';
import { shortened } from './rows.js';

/** The weight of one group in one estimate. */
export interface WeightPoint {
  readonly row: Estimate;
  readonly group: WeighedGroup;
  readonly weight: number;
}

/** Returns what is drawn: with relay clients the weight of each group, otherwise one weight says all. */
export function weightPoints(rows: readonly Estimate[]): WeightPoint[] {
  const shown = rows.filter(({ probability }) => probability > 0);
  return weightSeries(shown).flatMap((group) =>
    shown.flatMap((row) => {
      const weight = group.weight(row);
      return isNumber(weight) ? [{ row, group, weight }] : [];
    }),
  );
}

export function drawWeights(rows: readonly Estimate[]): Draw {
  const points = weightPoints(rows);
  const sizes = points.map(({ weight }) => weight);
  const domain = [
    Math.max(Math.min(0, ...sizes), WEIGHTS_DRAWN.least),
    Math.min(Math.max(1, ...sizes), WEIGHTS_DRAWN.most),
  ];
  const isAlone = weightSeries(rows).length === 1;
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
    y: {
      domain,
      clamp: true,
      label: isAlone ? 'Weight of the opt-in users' : 'Weight',
      tickFormat: '.0%',
      grid: true,
    },
    marks: [
      // The probability is an estimate: its interval lies behind the dot.
      plot.ruleY(
        points.filter(({ row: { low } }) => low !== null && low > 0),
        {
          y: 'weight',
          x1: ({ row }: WeightPoint) => row.low,
          x2: ({ row }: WeightPoint) => row.high,
          stroke: ({ group }: WeightPoint) => `var(--${group.id})`,
          strokeOpacity: 0.3,
        },
      ),
      plot.dot(points, {
        x: ({ row }: WeightPoint) => row.probability,
        y: 'weight',
        fill: (point: WeightPoint) =>
          isBeyond(point) ? 'var(--surface)' : `var(--${point.group.id})`,
        stroke: (point: WeightPoint) => (isBeyond(point) ? 'var(--danger)' : 'none'),
        symbol: (point: WeightPoint) => (isBeyond(point) ? 'diamond' : point.group.shape),
        fillOpacity: 0.75,
        r: 3,
        title: ({ row, group, weight }: WeightPoint) =>
          `${shortened(rowText(row), 60)}\n${percent(row.probability)}, weight of ${group.name.toLowerCase()} ${percent(weight)}`,
        tip: width > 500,
      }),
    ],
  });
}

/** Tells whether it is a weight outside 0 to 1, which only opt-in users can have. */
function isBeyond({ row, group }: WeightPoint): boolean {
  return group.id === 'opt-in' && isOutside(row);
}
