/**
 * Writes src/api/schema.ts from the service's OpenAPI description, docs/reference/openapi.json;
 * with --check only says whether it is fresh. It reads what that description uses of JSON Schema
 * and refuses the rest: openapi-typescript would do more, but needs a compiler older than ours.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const DESCRIPTION = new URL('../../docs/reference/openapi.json', import.meta.url);
const TYPES = new URL('./src/api/schema.ts', import.meta.url);
const HEAD = '/** Made from docs/reference/openapi.json by `npm run types`; do not edit. */\n';
const REFERENCE = '#/components/schemas/';
const PLAIN = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
};

/** Returns the types of all schemas of a description, as a module. */
export function typesOf(description) {
  const schemas = sorted(description.components.schemas);
  const lines = schemas.map(([name, schema]) => `  ${key(name)}: ${typeOf(schema, '  ')};\n`);
  return `${HEAD}export interface Schemas {\n${lines.join('')}}\n`;
}

function typeOf(schema, indent) {
  if (schema.$ref) return `Schemas['${schema.$ref.slice(REFERENCE.length)}']`;
  if (schema.oneOf) return schema.oneOf.map((one) => typeOf(one, indent)).join(' | ');
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum)
    return schema.enum.map((one) => (one === null ? 'null' : `'${one}'`)).join(' | ');
  if (schema.type === 'array') return `(${typeOf(schema.items, indent)})[]`;
  if (schema.type === 'object') return objectOf(schema, indent);
  if (schema.type in PLAIN) return PLAIN[schema.type];
  if (Object.keys(schema).length === 0) return 'unknown';
  throw new Error(`a schema of an unknown form: ${JSON.stringify(schema)}`);
}

function objectOf(schema, indent) {
  if (!schema.properties)
    return `Record<string, ${typeOf(schema.additionalProperties ?? {}, indent)}>`;
  const needed = new Set(schema.required ?? []);
  const lines = sorted(schema.properties).map(
    ([name, one]) =>
      `${indent}  ${key(name)}${needed.has(name) ? '' : '?'}: ${typeOf(one, `${indent}  `)};\n`,
  );
  return `{\n${lines.join('')}${indent}}`;
}

/** By name: the order in a description tells nothing. */
function sorted(named) {
  return Object.entries(named).sort(([a], [b]) => (a < b ? -1 : 1));
}

function key(name) {
  return /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
}

function main(isCheck) {
  const fresh = typesOf(JSON.parse(readFileSync(DESCRIPTION, 'utf8')));
  if (!isCheck) {
    writeFileSync(TYPES, fresh);
  } else if (readFileSync(TYPES, 'utf8') !== fresh) {
    process.stderr.write('web/dashboard/src/api/schema.ts is stale: run `npm run types` there.\n');
    process.exitCode = 1;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.includes('--check'));
