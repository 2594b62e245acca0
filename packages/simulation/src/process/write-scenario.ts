/** Writes a first scenario from a CRD and a sample: what `reeve explore init` prints. */
import { readFile } from 'node:fs/promises'
import type { CrdManifest, StructuralSchema } from '@reeve/crd'
import { isRecord } from '@reeve/http'
import { parseYamlDocuments } from '@reeve/kube/yaml'
import { stringify } from 'yaml'
import { crdFromManifest, storedSchema } from '../crd-manifests.ts'
import type { PlainObject } from '../operator-under-test.ts'
import { removablePaths, without } from '../schema/changed-values.ts'
import { ScenarioError } from './scenario-fields.ts'
import type { GivenObject } from './scenario-file.ts'

/** What a scenario is made from. */
export interface ScenarioSource {
  /** The file with the CRD. */
  readonly crd: string
  /** The file with an object of it. */
  readonly sample: string
  readonly command: string | undefined
}

/** The scenario as YAML. */
export async function writeScenario({ crd: crdPath, sample: samplePath, command }: ScenarioSource): Promise<string> {
  const manifest = (await documentsIn(crdPath)).find((one) => one.kind === 'CustomResourceDefinition')
  if (manifest === undefined) throw new ScenarioError(`${crdPath} contains no CustomResourceDefinition`)
  // The server checks the rest when it is installed.
  const crd = crdFromManifest(manifest as unknown as CrdManifest)
  const sample = (await documentsIn(samplePath)).find((one) => one.kind === crd.kind) as GivenObject | undefined
  if (sample === undefined) throw new ScenarioError(`${samplePath} contains no ${crd.kind}`)
  const { apiVersion, kind } = sample
  const metadata = {
    name: sample.metadata.name,
    ...(crd.scope === 'Namespaced' && { namespace: sample.metadata.namespace ?? 'default' }),
  }
  const reference = { apiVersion, kind, metadata }
  const given: PlainObject = { ...sample, metadata: { ...sample.metadata, ...metadata } }
  const smaller = smallerSpec(storedSchema(crd).properties?.spec, given.spec)
  const scenario = {
    name: crd.plural,
    operator: { command: command ?? './manager' },
    install: [crdPath],
    steps: [
      { name: 'create', apply: given },
      ...(smaller === undefined ? [] : [{ name: 'remove what is optional', apply: { ...given, spec: smaller } }]),
      ...(smaller === undefined ? [] : [{ name: 'restore it', apply: given }]),
      { name: 'delete', delete: reference },
      { name: 'create again', apply: given },
      { name: 'delete again', delete: reference },
    ],
    settled: { quiet: '3s', patience: '40s' },
    ignore: [],
    leavesBehind: [],
  }
  return `# Runs with: reeve explore --scenario <this file>\n${stringify(scenario, { aliasDuplicateObjects: false })}`
}

/** The spec without its optional parts; `undefined` when it has none. */
function smallerSpec(schema: StructuralSchema | undefined, spec: unknown): PlainObject | undefined {
  if (schema === undefined || !isRecord(spec)) return undefined
  const paths = removablePaths(schema, spec).filter((path) => path.length === 1)
  if (paths.length === 0) return undefined
  return paths.reduce<PlainObject>((rest, path) => without(rest, path) as PlainObject, spec)
}

async function documentsIn(path: string): Promise<readonly PlainObject[]> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new ScenarioError(
      error.code === 'ENOENT' ? `${path} does not exist` : `${path} cannot be read: ${error.code}`,
    )
  })
  return parseYamlDocuments(text).flatMap((document) => {
    const value: unknown = document.toJS()
    return isRecord(value) ? [value] : []
  })
}
