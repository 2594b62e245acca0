/** Rendered objects as text that is reviewed by reading. */
import { readFile, writeFile } from 'node:fs/promises'
import type { KubeObject, Secret } from '@reeve/kube'
import type { DesiredObject } from '@reeve/runtime'
import { expect } from 'vitest'
import { parseAllDocuments, stringify } from 'yaml'
import { decodeSecret } from '../secret-data.ts'

/**
 * Compares a text of YAML documents with a reviewed file. The order of fields means nothing in Kubernetes and is not
 * compared. Updated with `GOLDEN=update npx vitest run <file>` only.
 *
 * @example
 * await expectGolden(asYaml(objects), new URL('../../dynakube/testing/golden/plain.yaml', import.meta.url))
 */
export async function expectGolden(text: string, file: URL): Promise<void> {
  if (process.env.GOLDEN === 'update') await writeFile(file, text)
  const documents = (yaml: string) => parseAllDocuments(yaml).map((document) => document.toJS())
  expect(documents(text)).toEqual(documents(await readFile(file, 'utf8')))
}

/** The objects as YAML documents. */
export function asYaml(objects: readonly DesiredObject[]): string {
  return objects.map(({ object }) => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false })).join('---\n')
}

/** As {@link asYaml}, with the data of Secrets as text, for those whose data is what there is to review. */
export function asReadableYaml(objects: readonly DesiredObject[]): string {
  return asYaml(objects.map((wanted) => ({ ...wanted, object: readable(wanted.object) })))
}

function readable(object: KubeObject): KubeObject {
  if (object.kind !== 'Secret') return object
  // Chosen by its kind.
  const { data, ...rest } = object as Secret
  // The field in which people write such text.
  return { ...rest, stringData: decodeSecret(data) } as Secret
}

/** The one object of a kind. */
export function only<T extends KubeObject>(objects: readonly DesiredObject[], kind: string): T {
  const [found, ...others] = objects.filter(({ object }) => object.kind === kind)
  if (found === undefined || others.length > 0) throw new Error(`there is not exactly one ${kind}`)
  // Asked for by its kind.
  return found.object as T
}
