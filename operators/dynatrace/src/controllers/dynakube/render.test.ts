import { describe, expect, it } from 'vitest'
import type { DynaKubeSpec } from '../../api/latest.ts'
import { deploymentMetadata } from './components/connection/deployment-metadata.ts'
import { InvalidProxyError, proxySecret } from './components/connection/proxy-secret.ts'
import { oneAgentTenantSecret } from './components/connection/tenant-secrets.ts'
import { logMonitoring } from './components/log-monitoring/log-monitoring.ts'
import { oneAgent } from './components/one-agent/one-agent.ts'
import { renderDynaKube } from './render.ts'
import { renderInput } from './testing/render-input.ts'

const agents: Partial<DynaKubeSpec> = { oneAgent: { hostMonitoring: {} } }

describe('a component', () => {
  it('is left as it is while something that its pods read cannot be worked out', () => {
    const proxyUrl = 'http://user:pa%ss@proxy'
    const input = renderInput({ ...agents, proxy: { value: proxyUrl } }, { material: { proxyUrl } })
    const rendered = renderDynaKube(input)
    const of = (component: typeof oneAgent) => rendered.find((one) => one.component === component)
    expect(of(proxySecret)?.failure).toBeInstanceOf(InvalidProxyError)
    expect(of(oneAgent)).toEqual({ component: oneAgent, objects: [], failure: of(proxySecret)?.failure })
    expect(of(deploymentMetadata)?.objects).toHaveLength(1)
  })

  it('that is switched off lacks nothing', () => {
    const held = new Error('held')
    const isHeld = (component: typeof oneAgent) => (component === oneAgentTenantSecret ? held : undefined)
    const failures = (spec: Partial<DynaKubeSpec>) =>
      renderDynaKube(renderInput(spec), isHeld)
        .filter(({ failure }) => failure === held)
        .map(({ component }) => component)
    expect(failures({})).toEqual([oneAgentTenantSecret])
    expect(failures(agents)).toEqual([oneAgentTenantSecret, oneAgent])
    expect(failures({ logMonitoring: {} })).toEqual([oneAgentTenantSecret, logMonitoring])
  })
})
