/** Which colour and shape means what. */
import { GROUPS } from '../charts/estimates.js';

const SHAPES = {
  circle: 'M 6 1.5 A 4.5 4.5 0 1 1 5.99 1.5 Z',
  square: 'M 2 2 H 10 V 10 H 2 Z',
  diamond: 'M 6 0.5 L 11 6 L 6 11.5 L 1 6 Z',
};

export function GroupLegend({ names }: { readonly names: readonly string[] }) {
  return (
    <ul class="legend" aria-label="Legend">
      {GROUPS.filter(({ name }) => names.includes(name)).map(({ name, colour, symbol }) => (
        <li class="legend-item" key={name}>
          <svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true">
            <path d={SHAPES[symbol]} fill={`var(${colour})`} />
          </svg>
          {name}
        </li>
      ))}
    </ul>
  );
}
