import { describe, expect, it } from 'vitest'
import { deprecatedFlagsInUse, type FeatureFlags, featureFlags } from './feature-flags.ts'
import { dynakube } from './testing/build.ts'

const flagsOf = (flags: Record<string, string>): FeatureFlags => featureFlags(dynakube({}, { flags }))

describe('feature flags', () => {
  it('have their defaults when nothing is written', () => {
    expect(flagsOf({})).toEqual({
      publicRegistry: false,
      noProxy: '',
      automaticKubernetesApiMonitoring: true,
      kubernetesClusterName: 'dk',
      kubernetesAppEnabled: false,
      activeGateAppArmor: false,
      automaticTlsCertificate: true,
      activeGateUpdates: true,
      activeGateIgnoreProxy: false,
      oneAgentIgnoreProxy: false,
      oneAgentMaxUnavailable: 1,
      oneAgentInitialConnectRetryMs: -1,
      oneAgentPrivileged: false,
      oneAgentSkipLivenessProbe: false,
      extensionControllerLegacyMounts: true,
      nodeImagePull: false,
      automaticInjection: true,
      labelVersionDetection: false,
      injectionFailurePolicy: 'silent',
      initContainerSeccompProfile: false,
      maxCsiMountTimeoutMs: 600_000,
      otlpExporterSetNoProxy: true,
    })
  })

  it('that are on by default are switched off by explicit words only', () => {
    const results = ['true', 'TRUE', 't', '1', 'random', '', 'false', 'F', '0'].map(
      (value) => flagsOf({ 'automatic-injection': value }).automaticInjection,
    )
    expect(results).toEqual([true, true, true, true, true, true, false, false, false])
  })

  it('know two failure policies', () => {
    expect(flagsOf({ 'injection-failure-policy': 'flail' }).injectionFailurePolicy).toBe('silent')
    expect(flagsOf({ 'injection-failure-policy': 'fail' }).injectionFailurePolicy).toBe('fail')
  })

  it('connect again later under Istio by default', () => {
    const retry = (enableIstio: boolean, value?: string) =>
      featureFlags(
        dynakube({ enableIstio }, value === undefined ? {} : { flags: { 'oneagent-initial-connect-retry-ms': value } }),
      ).oneAgentInitialConnectRetryMs
    expect([retry(false), retry(true), retry(true, '-1'), retry(false, '5'), retry(true, '5')]).toEqual([
      -1, 6_000, 6_000, 5, 5,
    ])
  })

  it('read the mount timeout as a duration', () => {
    const timeout = (value: string) => flagsOf({ 'max-csi-mount-timeout': value }).maxCsiMountTimeoutMs
    expect(['5', '-1', 'abc', '-5m', '1h'].map(timeout)).toEqual([600_000, 600_000, 600_000, 600_000, 3_600_000])
  })

  it('let activegate-updates win over its negative form', () => {
    const updates = (flags: Record<string, string>) => flagsOf(flags).activeGateUpdates
    expect(updates({ 'activegate-updates': 'true', 'disable-activegate-updates': 'true' })).toBe(true)
    expect(updates({ 'disable-activegate-updates': 'true' })).toBe(false)
    expect(updates({ 'activegate-updates': 'false' })).toBe(false)
  })

  it('list the deprecated ones in use, in a fixed order', () => {
    const flags = {
      'disable-activegate-updates': 'x',
      'oneagent-ignore-proxy': 'false',
      'activegate-ignore-proxy': '1',
    }
    expect(deprecatedFlagsInUse(dynakube({}, { flags })).map(({ name }) => name)).toEqual([
      'oneagent-ignore-proxy',
      'disable-activegate-updates',
    ])
  })
})
