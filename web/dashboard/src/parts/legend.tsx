/** Legend of a chart: the colour and shape of each group. */
import { type Group, MARK_BOX, SHAPES } from '@blender-dp/pages/series.js';

export function GroupLegend({ groups }: { readonly groups: readonly Group[] }) {
  return (
    <ul class="legend" aria-label="Legend">
      {groups.map(({ id, name, shape }) => (
        <li class="legend-item" key={id}>
          <svg
            class={`mark series-${id}`}
            width="14"
            height="14"
            viewBox={MARK_BOX}
            aria-hidden="true"
          >
            <path d={SHAPES[shape]} />
          </svg>
          {name}
        </li>
      ))}
    </ul>
  );
}
