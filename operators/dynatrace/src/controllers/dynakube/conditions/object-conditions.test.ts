import { waiting } from '@reeve/runtime'
import { describe, expect, it } from 'vitest'
import { TenantUnknownError } from '../../../api/dynakube/tenant-facts.ts'
import type { DynaKubeSpec } from '../../../api/latest.ts'
import { KeyNotFoundError, ReferenceNotFoundError } from '../../references/reference-error.ts'
import { activeGate } from '../components/active-gate/active-gate.ts'
import { extensionController } from '../components/extensions/controller.ts'
import { databaseExecutors } from '../components/extensions/database-executors.ts'
import { UnknownProtocolError } from '../components/otel-collector/config.ts'
import { otelCollector } from '../components/otel-collector/otel-collector.ts'
import { telemetryIngest } from '../components/otel-collector/telemetry-ingest.ts'
import type { AnyDynaKubeComponent } from '../dynakube-component.ts'
import { rendered, renderInput } from '../testing/render-input.ts'
import { reporterOf } from '../testing/reporter.ts'

const clock = { now: () => Date.UTC(2026, 0, 1) }

type Outcome = Parameters<NonNullable<AnyDynaKubeComponent['report']>>[0]

/** Reports an outcome of a component for a DynaKube of generation 7. */
function report(component: AnyDynaKubeComponent, spec: Partial<DynaKubeSpec>, outcome: Partial<Outcome>) {
  const { primary } = renderInput(spec)
  const reporter = reporterOf({ ...primary, metadata: { ...primary.metadata, generation: 7 } }, clock)
  const base = { name: component.name, primary: reporter.primary, objects: [], changes: [], isReady: false }
  const nothing = { facts: undefined, waiting: undefined, failure: undefined, stage: undefined }
  component.report?.({ ...base, ...nothing, state: 'done', ...outcome }, reporter)
  return reporter
}

const summary = (reporter: ReturnType<typeof report>) =>
  (reporter.status?.conditions ?? []).map(({ type, status, reason, message }) => [type, status, reason, message])

describe('conditions of objects', () => {
  const missing = new ReferenceNotFoundError('the Secret dynatrace/tls does not exist; create it')

  it.each([
    ['ExtensionControllerStatefulSet', extensionController, missing, 'KubeApiError'],
    ['OtelStatefulSet', otelCollector, missing, 'KubeApiError'],
    ['ActiveGateStatefulSet', activeGate, new KeyNotFoundError('no key'), 'KubeApiError'],
    ['OTELCConfigurationConfigMap', telemetryIngest, new UnknownProtocolError('smtp'), 'ConfigMapGenerationFailed'],
    ['OtelpApiEndpointConfigMap', telemetryIngest, new TenantUnknownError('no UUID'), 'ConfigMapGenerationFailed'],
  ] as const)('%s reports why the object cannot be rendered', (type, component, failure, reason) => {
    const reporter = report(component, {}, { state: 'failed', stage: 'render', failure })
    expect(summary(reporter)).toEqual([[type, 'False', reason, failure.message]])
  })

  it('reports that the extension controller is waiting', () => {
    const outcome = { state: 'waiting', stage: 'render', waiting: waiting('the UUID of the tenant') } as const
    expect(summary(report(extensionController, {}, outcome))).toEqual([
      [
        'ExtensionControllerStatefulSet',
        'False',
        'StatefulSetOutdated',
        'extension controller is waiting for the UUID of the tenant',
      ],
    ])
  })

  it.each([activeGate, otelCollector, telemetryIngest] as const)(
    'stay as they are while $name is waiting',
    (component) => {
      const outcome = { state: 'waiting', stage: 'render', waiting: waiting('a token') } as const
      expect(summary(report(component, {}, outcome))).toEqual([])
    },
  )

  it('stay as they are when a Secret that gateways refer to is missing', () => {
    expect(summary(report(activeGate, {}, { state: 'failed', stage: 'resolve', failure: missing }))).toEqual([])
  })

  it('report which generation of the DynaKube the executors of databases are for', () => {
    const image = { imageRef: { repository: 'r', tag: '1' } }
    const spec: Partial<DynaKubeSpec> = {
      extensions: { databases: [{ id: 'a' }, { id: 'b' }, { id: 'c' }, { id: 'd' }] },
      templates: { extensionExecutionController: image, sqlExtensionExecutor: image },
    }
    const written = (component: AnyDynaKubeComponent) => ({
      objects: rendered(component, renderInput(spec)).map((desired) => ({ desired, state: 'current' }) as const),
    })
    const name = (id: string) => `dk-sql-ext-exec-${id}`
    const executors = report(databaseExecutors, spec, written(databaseExecutors))
    expect(executors.condition('DatabaseDatasourcesAvailable')).toEqual({
      type: 'DatabaseDatasourcesAvailable',
      status: 'True',
      reason: 'DeploymentsApplied',
      message: `${name('a')}, ${name('b')}, ${name('c')} and 1 more applied`,
      lastTransitionTime: '2026-01-01T00:00:00Z',
      observedGeneration: 7,
    })
    const controller = report(extensionController, spec, written(extensionController))
    expect(controller.condition('ExtensionControllerStatefulSet')).not.toHaveProperty('observedGeneration')
  })
})
