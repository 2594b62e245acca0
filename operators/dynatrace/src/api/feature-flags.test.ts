import { describe, expect, it } from 'vitest'
import { deprecatedFlagsInUse, type FeatureFlags, featureFlags, isIgnoredNamespace } from './feature-flags.ts'
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
      nodeImagePull: false,
      ignoredNamespaces: ['^dynatrace$', '^kube-.*', '^openshift(-.*)?', '^gke-.*', '^gmp-.*'],
      automaticInjection: true,
      labelVersionDetection: false,
      injectionFailurePolicy: 'silent',
      initContainerSeccompProfile: false,
      maxCsiMountTimeoutMs: 600_000,
      otlpExporterSetNoProxy: true,
    })
  })

  it('that are on by default are switched off by explicit words only (39)', () => {
    const results = ['true', 'TRUE', 't', '1', 'random', '', 'false', 'F', '0'].map(
      (value) => flagsOf({ 'automatic-injection': value }).automaticInjection,
    )
    expect(results).toEqual([true, true, true, true, true, true, false, false, false])
  })

  it('fall back to the default namespaces when the list cannot be read (40)', () => {
    const byDefault = flagsOf({}).ignoredNamespaces
    expect(flagsOf({ 'ignored-namespaces': '[1,2,3]' }).ignoredNamespaces).toEqual(byDefault)
    expect(flagsOf({ 'ignored-namespaces': '[]' }).ignoredNamespaces).toEqual([])
    expect(flagsOf({ 'ignored-namespaces': 'null' }).ignoredNamespaces).toEqual([])
  })

  it('skip a pattern that is no regular expression (54)', () => {
    const object = dynakube({}, { flags: { 'ignored-namespaces': '["(", "^a$"]' } })
    expect(['a', 'b', '(', 'kube-system'].filter((name) => isIgnoredNamespace(object, name))).toEqual(['a'])
  })

  it.each(['(a+)+$', '(a|aa)+$', '^(([a-z])+.)+[A-Z]([a-z])+$', '(.*a){30}$'])(
    'take no time for a pattern that would make others hang: %s',
    (pattern) => {
      const object = dynakube({}, { flags: { 'ignored-namespaces': JSON.stringify([pattern]) } })
      const startMs = performance.now()
      expect(isIgnoredNamespace(object, `${'a'.repeat(62)}!`)).toBe(false)
      // Backtracking takes longer than anybody has; the limit only has to tell the two apart.
      expect(performance.now() - startMs).toBeLessThan(5_000)
    },
  )

  it('leave system namespaces alone by default', () => {
    const names = ['dynatrace', 'dynatrace2', 'kube-system', 'openshift', 'openshift-dns', 'gke-x', 'gmp-y', 'shop']
    const ignored = ['dynatrace', 'kube-system', 'openshift', 'openshift-dns', 'gke-x', 'gmp-y']
    expect(names.filter((name) => isIgnoredNamespace(dynakube(), name))).toEqual(ignored)
  })

  it('take the namespace of the DynaKube as a name, not as a pattern', () => {
    const { metadata, ...rest } = dynakube()
    const object = { ...rest, metadata: { ...metadata, namespace: '(' } }
    expect(['(', 'shop'].filter((name) => isIgnoredNamespace(object, name))).toEqual(['('])
  })

  it('know two failure policies (41)', () => {
    expect(flagsOf({ 'injection-failure-policy': 'flail' }).injectionFailurePolicy).toBe('silent')
    expect(flagsOf({ 'injection-failure-policy': 'fail' }).injectionFailurePolicy).toBe('fail')
  })

  it('connect again later under Istio unless told otherwise (42)', () => {
    const retry = (enableIstio: boolean, value?: string) =>
      featureFlags(
        dynakube({ enableIstio }, value === undefined ? {} : { flags: { 'oneagent-initial-connect-retry-ms': value } }),
      ).oneAgentInitialConnectRetryMs
    expect([retry(false), retry(true), retry(true, '-1'), retry(false, '5'), retry(true, '5')]).toEqual([
      -1, 6_000, 6_000, 5, 5,
    ])
  })

  it('read the mount timeout as a duration (43)', () => {
    const timeout = (value: string) => flagsOf({ 'max-csi-mount-timeout': value }).maxCsiMountTimeoutMs
    expect(['5', '-1', 'abc', '-5m', '1h'].map(timeout)).toEqual([600_000, 600_000, 600_000, 600_000, 3_600_000])
  })

  it('let activegate-updates win over its negative form (44)', () => {
    const updates = (flags: Record<string, string>) => flagsOf(flags).activeGateUpdates
    expect(updates({ 'activegate-updates': 'true', 'disable-activegate-updates': 'true' })).toBe(true)
    expect(updates({ 'disable-activegate-updates': 'true' })).toBe(false)
    expect(updates({ 'activegate-updates': 'false' })).toBe(false)
  })

  it('tell the deprecated ones in use, in a fixed order', () => {
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
