/** Images that the node can pull, as if they had been pushed to a registry. */

/** Repository of an image, without its tag. */
export function imageRepository(name: string): string {
  // Written by run-inside.ts: the shape is known.
  const references = JSON.parse(process.env.REEVE_NODE_IMAGES ?? '{}') as Readonly<Record<string, string>>
  return (references[name] ?? '').replace(/:[^:/]+$/, '')
}

/** Folder with the OCI layout of an image. */
export function imageLayout(name: string): string {
  // Written by run-inside.ts: the shape is known.
  return (JSON.parse(process.env.REEVE_NODE_LAYOUTS ?? '{}') as Readonly<Record<string, string>>)[name] ?? ''
}
