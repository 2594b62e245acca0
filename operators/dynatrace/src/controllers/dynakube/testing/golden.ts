/** Rendered objects as text that is reviewed by reading. */
import type { KubeObject } from '@reeve/kube'
import type { DesiredObject } from '@reeve/runtime'
import { stringify } from 'yaml'

/** The objects as YAML documents. Written anew with `npx vitest run -u <file>` only. */
export function asYaml(objects: readonly DesiredObject[]): string {
  return objects.map(({ object }) => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false })).join('---\n')
}

/** The one object of a kind. */
export function only<T extends KubeObject>(objects: readonly DesiredObject[], kind: string): T {
  const [found, ...others] = objects.filter(({ object }) => object.kind === kind)
  if (found === undefined || others.length > 0) throw new Error(`there is not exactly one ${kind}`)
  // Asked for by its kind.
  return found.object as T
}
