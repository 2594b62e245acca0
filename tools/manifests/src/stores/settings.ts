/** The values of the Dynatrace chart that forms of stores ask for. Types, defaults and texts come from the chart. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMap, isPair, isScalar, type Pair, parseDocument, type YAMLMap } from 'yaml'
import { ManifestsError } from '../manifests-error.ts'

/** A value of the chart in a form. */
export interface Setting {
  /** Its path, such as `csidriver.enabled`. */
  readonly path: string
  readonly label: string
  readonly group: string
  readonly description: string
  readonly type: 'boolean' | 'string' | 'integer'
  /** The values that it can have, if they are limited. */
  readonly options?: readonly string[]
  readonly default: unknown
}

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly (string | boolean | null)[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly definitions?: Readonly<Record<string, Schema>>
}

/** Groups of a form: label by path. */
const GROUPS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Image: {
    'imageRef.repository': 'Repository',
    'imageRef.tag': 'Tag',
    customPullSecret: 'Pull secret',
  },
  Operator: {
    installCRD: 'Install the CRDs',
    debugLogs: 'Debug logs',
    'operator.hostAvailabilityDetection': 'Announce nodes that go away',
  },
  Webhook: {
    'webhook.highAvailability': 'High availability',
    'webhook.mutatingWebhook.failurePolicy': 'Failure policy of injection',
  },
  'CSI driver': {
    'csidriver.enabled': 'Install the CSI driver',
    'csidriver.kubeletPath': 'Directory of the kubelets',
  },
  Components: {
    'rbac.oneAgent.create': 'OneAgent',
    'rbac.activeGate.create': 'ActiveGate',
    'rbac.kubernetesMonitoring.create': 'Kubernetes monitoring',
    'rbac.kspm.create': 'Security posture management',
    'rbac.logMonitoring.create': 'Log monitoring',
    'rbac.extensions.create': 'Extensions',
    'rbac.telemetryIngest.create': 'Telemetry ingest',
    'rbac.edgeConnect.create': 'EdgeConnect',
    'rbac.supportability': 'Support archives with logs',
  },
  Monitoring: {
    'metrics.podMonitors': 'PodMonitors',
    'metrics.alerts': 'Alerts',
    'metrics.dashboard': 'Dashboard',
    'console.enabled': 'Console',
  },
  Network: { 'networkPolicy.enabled': 'Network policies' },
}

/**
 * The settings of a chart.
 *
 * *Errors*: `ManifestsError` for a path that the values or the schema of the chart do not have.
 */
export function settingsOf(chart: string): readonly Setting[] {
  const values = parseDocument(readFileSync(join(chart, 'values.yaml'), 'utf8'))
  const schema = JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8')) as Schema
  return Object.entries(GROUPS).flatMap(([group, labels]) =>
    Object.entries(labels).map(([path, label]) => {
      const keys = path.split('.')
      if (!values.hasIn(keys)) throw new ManifestsError(`values.yaml has no ${path}`)
      const description = commentOn(values.contents, keys) ?? label
      return { path, label, group, description, ...typeOf(schema, path), default: values.getIn(keys) }
    }),
  )
}

function typeOf(root: Schema, path: string): Pick<Setting, 'type' | 'options'> {
  let schema: Schema | undefined = root
  for (const key of path.split('.')) {
    schema = schema?.properties?.[key]
    const name: string | undefined = schema?.$ref?.replace('#/definitions/', '')
    if (name !== undefined) schema = root.definitions?.[name]
  }
  if (schema === undefined) throw new ManifestsError(`values.schema.json has no ${path}`)
  const [type] = [schema.type].flat()
  if (type === 'boolean' || type === 'integer') return { type }
  // Null stands for the default, which a form has anyway.
  const options = schema.enum?.filter((option) => typeof option === 'string')
  return { type: 'string', ...(options !== undefined && { options }) }
}

/** The comment on a value, or on the object whose switch it is. */
function commentOn(contents: unknown, keys: readonly string[]): string | undefined {
  const pairs: Pair[] = []
  let map: unknown = contents
  let isFirst = false
  for (const key of keys) {
    if (!isMap(map)) return undefined
    const pair: Pair | undefined = map.items.find(
      (item) => isPair(item) && isScalar(item.key) && item.key.value === key,
    )
    if (pair === undefined) return undefined
    isFirst = map.items[0] === pair
    if (isFirst) attachFirstComment(map, pair)
    pairs.push(pair)
    map = pair.value
  }
  const own = textOf(pairs.at(-1))
  return own ?? (/^(?:create|enabled)$/.test(keys.at(-1) ?? '') ? textOf(pairs.at(-2)) : undefined)
}

/** The parser attaches the comment on the first key to the map. */
function attachFirstComment(map: YAMLMap, pair: Pair): void {
  if (isScalar(pair.key) && map.commentBefore) pair.key.commentBefore ??= map.commentBefore
}

function textOf(pair: Pair | undefined): string | undefined {
  const comment = isScalar(pair?.key) ? pair.key.commentBefore : undefined
  return (
    comment
      ?.split('\n')
      .map((line) => line.trim())
      .join(' ')
      .trim() || undefined
  )
}
