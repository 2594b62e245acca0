/** What a console shows about releases: as the last reconcile of each Collector observed them. */
import type { Release, ReleaseKey } from '@reeve/helm'
import { formatKey, type ObjectKey } from '@reeve/kube'
import type { OperatorView, Tone, ViewSection } from '@reeve/runtime/operator'
import { type Collector, Collectors } from '../api/collector.ts'
import type { ReleaseReport } from '../release/inspect-release.ts'
import type { ObservedRelease } from '../release/observe-release.ts'
import { formatRelease } from '../release-key.ts'

/** Releases that are remembered; those that were observed longest ago are forgotten first. */
const MAX_RELEASES = 1_000
/** Revisions that are shown of one release. */
const MAX_REVISIONS = 10

/** What a reconcile observed of a release, without its values and manifest. */
interface Observation {
  readonly release: ReleaseKey
  readonly revisions: readonly Pick<Release, 'revision' | 'status' | 'chart' | 'lastDeployed'>[]
  readonly report: ReleaseReport
}

/** Remembers the last observation of each Collector. */
export class ObservedReleases {
  readonly #byCollector = new Map<string, Observation>()

  /** Takes note of what a reconcile of `collector` has read. */
  note(collector: ObjectKey, release: ReleaseKey, { history, workloads }: ObservedRelease): void {
    const id = formatKey(collector)
    const revisions = history
      .slice(-MAX_REVISIONS)
      .map(({ revision, status, chart, lastDeployed }) => ({ revision, status, chart, lastDeployed }))
    this.#byCollector.delete(id)
    this.#byCollector.set(id, { release, revisions, report: workloads })
    const [oldest] = this.#byCollector.keys()
    if (this.#byCollector.size > MAX_RELEASES && oldest !== undefined) this.#byCollector.delete(oldest)
  }

  of(collector: ObjectKey): Observation | undefined {
    return this.#byCollector.get(formatKey(collector))
  }
}

/**
 * The view: releases, their history, and manual changes to their objects.
 *
 * @example
 * views: [releasesView(observed)]
 */
export function releasesView(observed: ObservedReleases): OperatorView {
  return {
    id: 'releases',
    title: 'Releases',
    read: async ({ cache }) => {
      const collectors = [...cache.list(Collectors)].sort((one, other) => (title(one) < title(other) ? -1 : 1))
      const known = collectors.map((collector) => ({ collector, observation: observed.of(keyOf(collector)) }))
      return [releases(known), drift(known), history(known)]
    },
  }
}

interface Known {
  readonly collector: Collector
  readonly observation: Observation | undefined
}

function releases(known: readonly Known[]): ViewSection {
  return {
    type: 'table',
    title: 'Releases',
    empty: 'There are no Collectors.',
    columns: ['Collector', 'Tenant', 'State', 'Release', 'Chart', 'Revision', 'Workloads'],
    rows: known.map(({ collector, observation }) => {
      const { spec, status = {} } = collector
      const { phase = 'Created', chart = '', revision, releaseName = '', namespace = '', lastFailure } = status
      const notes = observation?.report.notes ?? []
      return [
        title(collector),
        spec.tenant.reference,
        { text: phase, tone: toneOf(phase), ...(lastFailure && { detail: lastFailure.message }) },
        namespace === '' ? '' : `${namespace}/${releaseName}`,
        chart,
        revision === undefined ? '' : String(revision),
        notes.length === 0 ? { text: 'ready', tone: 'good' } : { text: notes.join(', '), tone: 'warning' },
      ]
    }),
  }
}

function drift(known: readonly Known[]): ViewSection {
  const rows = known.flatMap(({ collector, observation }) => {
    const { missing = [], changed = [] } = observation?.report ?? {}
    return [
      ...missing.map((object) => [title(collector), object, { text: 'deleted', tone: 'bad' as const }]),
      ...changed.map((object) => [title(collector), object, { text: 'changed', tone: 'warning' as const }]),
    ]
  })
  return {
    type: 'table',
    title: 'Drift',
    empty: 'Every object of every release is as its chart rendered it.',
    columns: ['Collector', 'Object', 'Manual change'],
    rows,
  }
}

function history(known: readonly Known[]): ViewSection {
  const rows = known.flatMap(({ observation }) =>
    (observation?.revisions ?? [])
      .toReversed()
      .map(({ revision, status, chart, lastDeployed }) => [
        observation === undefined ? '' : formatRelease(observation.release),
        String(revision),
        { text: status, tone: toneOf(status) },
        `${chart.name}-${chart.version}`,
        lastDeployed ?? '',
      ]),
  )
  return {
    type: 'table',
    title: 'History',
    empty: 'No release was observed yet.',
    columns: ['Release', 'Revision', 'Status', 'Chart', 'Deployed'],
    rows,
  }
}

function toneOf(state: string): Tone {
  if (/^(Available|deployed|Ready)$/.test(state)) return 'good'
  if (/fail|Degraded/i.test(state)) return 'bad'
  return /superseded|uninstalled/.test(state) ? 'neutral' : 'warning'
}

const keyOf = ({ metadata: { namespace = '', name = '' } }: Collector): ObjectKey => ({ namespace, name })

const title = (collector: Collector): string => formatKey(keyOf(collector))
