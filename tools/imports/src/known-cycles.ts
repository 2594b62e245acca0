/** Folders that still import each other. Nothing is added here: each entry goes when its circle is untangled. */
export const KNOWN_CYCLES: readonly (readonly string[])[] = [
  // Conversion and validation read facts about a DynaKube that live beside its schema.
  ['conversion', 'dynakube', 'validation'].map((folder) => `operators/dynatrace/src/api/${folder}`),
  ['compare', 'world'].map((folder) => `packages/simulation/src/${folder}`),
  ['judge', 'run'].map((folder) => `packages/simulation/src/${folder}`),
]
