export function typesOf(description: {
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}): string;
