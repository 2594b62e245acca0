import { waiting } from '@reeve/runtime'
import { describe, expect, it } from 'vitest'
import { TenantUnknownError } from '../../api/dynakube/tenant-facts.ts'
import type { DynaKubeSpec, DynaKubeStatus } from '../../api/latest.ts'
import { KeyNotFoundError, ReferenceNotFoundError } from '../references/reference-error.ts'
import { NotYetKnownError } from './component.ts'
import { UnknownProtocolError } from './components/otel-collector/config.ts'
import { COMPONENTS } from './components.ts'
import { reportObjects } from './object-conditions.ts'
import { StatusDraft } from './status-draft.ts'
import { renderDynaKube } from './testing/render-all.ts'
import { KNOWN_STATUS, renderInput } from './testing/render-input.ts'

const clock = { now: () => Date.UTC(2026, 0, 1) }

const draftOf = (spec: Partial<DynaKubeSpec> = {}, status: DynaKubeStatus = KNOWN_STATUS) => {
  const { dynakube } = renderInput(spec, { status })
  return StatusDraft.of({ ...dynakube, metadata: { ...dynakube.metadata, generation: 7 } }, clock)
}

/** What the conditions say when a component could not be rendered. */
function afterFailure(name: string, failure: Error) {
  const draft = draftOf()
  const conditions = COMPONENTS.find((component) => component.name === name)?.conditions?.(draft.dynakube) ?? []
  const outcome =
    failure instanceof NotYetKnownError
      ? ({ state: 'waiting', waiting: waiting(failure.what), failure: undefined } as const)
      : ({ state: 'failed', waiting: undefined, failure } as const)
  reportObjects(draft, conditions, { name: 'it', stage: 'render', objects: [], ...outcome })
  return (draft.status.conditions ?? []).map(({ type, status, reason, message }) => [type, status, reason, message])
}

describe('conditions of objects', () => {
  const missing = new ReferenceNotFoundError('the Secret dynatrace/tls does not exist; create it')

  it.each([
    // The tenant or the cluster is not known (gateway 27).
    ['extension controller', new NotYetKnownError('it', 'the tenant'), 'StatefulSetOutdated'],
    ['extension controller', missing, 'KubeApiError'],
    ['OpenTelemetry collector', missing, 'KubeApiError'],
    ['ActiveGate', new KeyNotFoundError('no key'), 'KubeApiError'],
    ['telemetry ingest', new UnknownProtocolError('smtp'), 'ConfigMapGenerationFailed'],
    ['telemetry ingest', new TenantUnknownError('no tenantUUID'), 'ConfigMapGenerationFailed'],
  ])('tell why the %s is not there: %s', (name, failure, reason) => {
    const types: Readonly<Record<string, string>> = {
      'extension controller': 'ExtensionControllerStatefulSet',
      'OpenTelemetry collector': 'OtelStatefulSet',
      ActiveGate: 'ActiveGateStatefulSet',
      'telemetry ingest':
        failure instanceof UnknownProtocolError ? 'OTELCConfigurationConfigMap' : 'OtelpApiEndpointConfigMap',
    }
    expect(afterFailure(name, failure)).toEqual([[types[name], 'False', reason, failure.message]])
  })

  it.each([
    ['ActiveGate', missing],
    ['OpenTelemetry collector', new NotYetKnownError('it', 'a token')],
    ['telemetry ingest', new NotYetKnownError('it', 'the address of gateways')],
  ])('stay as they are while the %s waits', (name, failure) => {
    expect(afterFailure(name, failure)).toEqual([])
  })

  it('tell which generation of the DynaKube the executors of databases are for', () => {
    const image = { imageRef: { repository: 'r', tag: '1' } }
    const spec: Partial<DynaKubeSpec> = {
      extensions: { databases: [{ id: 'a' }, { id: 'b' }, { id: 'c' }, { id: 'd' }] },
      templates: { extensionExecutionController: image, sqlExtensionExecutor: image },
    }
    const draft = draftOf(spec)
    for (const { component, objects } of renderDynaKube(renderInput(spec))) {
      const written = objects.map((desired) => ({ desired, state: 'current' }) as const)
      const outcome = { name: component.name, state: 'done', stage: undefined, failure: undefined, waiting: undefined }
      const conditions = component.conditions?.(draft.dynakube) ?? []
      reportObjects(draft, conditions, { ...outcome, state: 'done', objects: written })
    }
    const name = (id: string) => `dk-sql-ext-exec-${id}`
    expect(draft.condition('DatabaseDatasourcesAvailable')).toEqual({
      type: 'DatabaseDatasourcesAvailable',
      status: 'True',
      reason: 'DeploymentsApplied',
      message: `${name('a')}, ${name('b')}, ${name('c')} and 1 more applied`,
      lastTransitionTime: '2026-01-01T00:00:00Z',
      observedGeneration: 7,
    })
    expect(draft.condition('ExtensionControllerStatefulSet')).not.toHaveProperty('observedGeneration')
  })
})
