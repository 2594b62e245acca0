/** The file that describes what users do with an operator, for operators in any language. */
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { CrdManifest } from '@reeve/crd'
import { isRecord } from '@reeve/http'
import type { KubeObject } from '@reeve/kube'
import { parseYamlDocuments } from '@reeve/kube/yaml'
import type { Edit, PlainObject, SharedObject } from '../operator-under-test.ts'
import { Fields, ScenarioError } from './scenario-fields.ts'
import { type FileStep, readSteps } from './scenario-steps.ts'

/** An object of the file, complete with its kind and name. */
export type GivenObject = KubeObject & PlainObject

/** A Service whose webhooks the cluster calls, and which of the ports of an instance serves it. */
export interface WebhookService {
  /** `system/webhooks`. */
  readonly service: string
  /** 1 to 4, for `$REEVE_PORT_1` to `$REEVE_PORT_4`. */
  readonly port: number
}

/** A scenario file. */
export interface ScenarioFile {
  readonly name: string
  /** How an instance is started. */
  readonly command: string | undefined
  /** How an instance is started that competes for a lease. */
  readonly electedCommand: string | undefined
  readonly env: Readonly<Record<string, string>>
  readonly webhooks: readonly WebhookService[]
  /** Commands of services outside the cluster, started for each run. */
  readonly services: readonly string[]
  /** Installed before the operator starts. The first CRD is the one whose states are walked. */
  readonly crds: readonly CrdManifest[]
  readonly objects: readonly GivenObject[]
  readonly steps: readonly FileStep[]
  readonly quietMs: number | undefined
  readonly patienceMs: number | undefined
  /** `deployments.apps metadata.annotations`, or `configmaps default/cache` for a whole object. */
  readonly ignore: readonly string[]
  readonly leavesBehind: readonly string[]
  readonly adopts: readonly string[]
  readonly expectedErrors: readonly string[]
  readonly keepsValues: readonly string[]
  readonly inertFields: readonly string[]
  readonly sharedObjects: readonly SharedObject[]
  readonly manualChanges: readonly Edit[]
  readonly walkStates: boolean
}

/**
 * Reads a scenario file and the files it names.
 *
 * *Errors*: {@link ScenarioError} that names the field and what it should be.
 *
 * @example
 * const scenario = await readScenario('scenario.yaml')
 */
export async function readScenario(path: string): Promise<ScenarioFile> {
  const [document, ...others] = await valuesIn(path)
  if (document === undefined || others.length > 0) throw new ScenarioError(`${path} must contain one document`)
  const fields = new Fields(document, '')
  const load = (value: unknown, at: string) => objectsOf(value, at, dirname(resolve(path)))
  const operator = fields.object('operator')
  const settled = fields.object('settled')
  const installed = await load(fields.value('install'), 'install')
  const crds = installed.filter(({ kind }) => kind === 'CustomResourceDefinition')
  if (crds.length === 0)
    throw new ScenarioError('install must contain the CustomResourceDefinition of what users declare')
  const file: ScenarioFile = {
    name: fields.text('name') ?? 'scenario',
    command: operator?.text('command'),
    electedCommand: operator?.text('electedCommand'),
    env: operator?.map('env') ?? {},
    webhooks: (operator?.objects('webhooks') ?? []).map(readWebhook),
    services: fields.texts('services'),
    // A manifest is what the server accepts; it checks the rest.
    crds: crds as unknown as readonly CrdManifest[],
    objects: installed.filter((object) => !crds.includes(object)),
    steps: await readSteps(fields, load),
    quietMs: settled?.duration('quiet'),
    patienceMs: settled?.duration('patience'),
    ignore: fields.texts('ignore'),
    leavesBehind: fields.texts('leavesBehind'),
    adopts: fields.texts('adopts'),
    expectedErrors: fields.texts('expectedErrors'),
    keepsValues: fields.texts('keepsValues'),
    inertFields: fields.texts('inertFields'),
    sharedObjects: fields.objects('sharedObjects').map((one) => {
      const shared = { resource: required(one, 'resource'), fields: one.texts('fields') }
      one.end()
      return shared
    }),
    manualChanges: fields.objects('manualChanges').map(readEdit),
    walkStates: fields.flag('walkStates') ?? true,
  }
  operator?.end()
  settled?.end()
  fields.end()
  return file
}

function readWebhook(fields: Fields): WebhookService {
  const service = required(fields, 'service')
  const port = fields.value('port')
  if (typeof port !== 'number' || !Number.isInteger(port) || port < 1 || port > 4)
    throw new ScenarioError(`${fields.at('port')} must be 1 to 4: the number of one of the ports of an instance`)
  if (!/^[^/]+\/[^/]+$/.test(service))
    throw new ScenarioError(`${fields.at('service')} must be namespace/name, not "${service}"`)
  fields.end()
  return { service, port }
}

function readEdit(fields: Fields): Edit {
  const patch = fields.value('patch')
  if (!isRecord(patch)) throw new ScenarioError(`${fields.at('patch')} must be a merge patch`)
  const edit = { resource: required(fields, 'resource'), patch }
  fields.end()
  return edit
}

function required(fields: Fields, name: string): string {
  const value = fields.text(name)
  if (value === undefined || value === '') throw new ScenarioError(`${fields.at(name)} is missing`)
  return value
}

/** Objects that are given in place, or by the names of files next to the scenario. */
async function objectsOf(value: unknown, at: string, folder: string): Promise<readonly GivenObject[]> {
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) {
    const all = await Promise.all(value.map((item, index) => objectsOf(item, `${at}[${index}]`, folder)))
    return all.flat()
  }
  if (typeof value === 'string') {
    const path = resolve(folder, value)
    const values = await valuesIn(path).catch((error: unknown) => {
      throw new ScenarioError(`${at}: ${error instanceof Error ? error.message : String(error)}`)
    })
    return values.flatMap((one, index) => asObjects(one, `${value}, document ${index + 1}`))
  }
  return asObjects(value, at)
}

function asObjects(value: unknown, at: string): readonly GivenObject[] {
  if (isRecord(value) && value.kind === 'List' && Array.isArray(value.items))
    return value.items.flatMap((item, index) => asObjects(item, `${at}.items[${index}]`))
  if (!isRecord(value) || typeof value.apiVersion !== 'string' || typeof value.kind !== 'string')
    throw new ScenarioError(`${at} must be a Kubernetes object with apiVersion and kind, or the name of a file`)
  const { metadata } = value
  if (!isRecord(metadata) || typeof metadata.name !== 'string')
    throw new ScenarioError(`${at}.metadata.name is missing`)
  return [value as unknown as GivenObject]
}

async function valuesIn(path: string): Promise<readonly unknown[]> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new ScenarioError(
      error.code === 'ENOENT' ? `${path} does not exist` : `${path} cannot be read: ${error.code}`,
    )
  })
  const documents = parseYamlDocuments(text)
  return documents.flatMap((document) => {
    const [error] = document.errors
    if (error !== undefined) throw new ScenarioError(`${path}: ${error.message.split('\n')[0]}`)
    const value: unknown = document.toJS()
    return value === null || value === undefined ? [] : [value]
  })
}
