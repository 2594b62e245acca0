import { describe, expect, it } from 'vitest'
import type { DynaKubeSpec } from '../../api/latest.ts'
import { deploymentMetadata } from './components/connection/deployment-metadata.ts'
import { oneAgentConnection } from './components/connection/one-agent-connection.ts'
import { proxySecret } from './components/connection/proxy-secret.ts'
import { extensionController } from './components/extensions/controller.ts'
import { databaseExecutors } from './components/extensions/database-executors.ts'
import { extensions } from './components/extensions/extensions.ts'
import { logMonitoring } from './components/log-monitoring/log-monitoring.ts'
import { oneAgent } from './components/one-agent/one-agent.ts'
import { otelCollector } from './components/otel-collector/otel-collector.ts'
import { telemetryIngest } from './components/otel-collector/telemetry-ingest.ts'
import { InvalidProxyError } from './components/tenant/proxy-parts.ts'
import type { AnyDynaKubeComponent } from './dynakube-component.ts'
import { renderDynaKube } from './testing/render-all.ts'
import { renderInput } from './testing/render-input.ts'

const agents: Partial<DynaKubeSpec> = { oneAgent: { hostMonitoring: {} } }

describe('a component', () => {
  it('is not changed while a file of its pods cannot be rendered', () => {
    const proxyUrl = 'http://user:pa%ss@proxy'
    const input = renderInput({ ...agents, proxy: { value: proxyUrl } }, { facts: { proxyUrl } })
    const rendered = renderDynaKube(input)
    const of = (component: AnyDynaKubeComponent) => rendered.find((one) => one.component === component)
    expect(of(proxySecret)?.failure).toBeInstanceOf(InvalidProxyError)
    expect(of(oneAgent)).toEqual({ component: oneAgent, objects: [], failure: of(proxySecret)?.failure })
    expect(of(deploymentMetadata)?.objects).toHaveLength(1)
  })

  it('that is switched off lacks nothing', () => {
    const held = new Error('held')
    const heldWith = (first: AnyDynaKubeComponent, spec: Partial<DynaKubeSpec>) =>
      renderDynaKube(renderInput(spec), (component) => (component === first ? held : undefined))
        .filter(({ component, failure }) => component !== first && failure === held)
        .map(({ component }) => component)
    expect(heldWith(oneAgentConnection, {})).toEqual([])
    expect(heldWith(oneAgentConnection, agents)).toEqual([oneAgent])
    expect(heldWith(oneAgentConnection, { logMonitoring: {} })).toEqual([logMonitoring])
    expect(heldWith(extensions, { extensions: { databases: [{ id: 'db' }] } })).toEqual([
      extensionController,
      databaseExecutors,
    ])
    expect(heldWith(extensions, { telemetryIngest: {} })).toEqual([])
    expect(heldWith(telemetryIngest, { telemetryIngest: {} })).toEqual([otelCollector])
  })
})
