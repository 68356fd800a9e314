import { expect, test } from 'vitest';
import { typesOf } from '../api-types.mjs';

const described = (schemas: Record<string, unknown>) => typesOf({ components: { schemas } });

test('schemas become types, in the order of their names', () => {
  const types = described({
    Zone: { enum: ['a', 'b', null], type: ['string', 'null'] },
    Area: {
      type: 'object',
      required: ['zone'],
      properties: {
        zone: { $ref: '#/components/schemas/Zone' },
        size: { oneOf: [{ type: 'integer' }, { type: 'null' }] },
        names: { type: 'array', items: { type: 'string' } },
        'x-y': { type: 'object', additionalProperties: { type: 'number' } },
        version: { const: 1 },
        anything: {},
      },
    },
  });
  expect(types.split('\n').slice(1)).toEqual([
    'export interface Schemas {',
    '  Area: {',
    '    anything?: unknown;',
    '    names?: (string)[];',
    '    size?: number | null;',
    '    version?: 1;',
    '    "x-y"?: Record<string, number>;',
    "    zone: Schemas['Zone'];",
    '  };',
    "  Zone: 'a' | 'b' | null;",
    '}',
    '',
  ]);
});

test('a schema of an unknown form is refused, never guessed', () => {
  expect(() => described({ Odd: { allOf: [] } })).toThrow('unknown form');
});
