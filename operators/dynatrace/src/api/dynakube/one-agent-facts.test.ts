import { describe, expect, it } from 'vitest'
import { dynakube } from '../testing/build.ts'
import {
  agentNodeSelector,
  argumentValues,
  customOneAgentImage,
  customVersion,
  hostGroup,
  initResources,
  injectionNamespaceSelector,
  isOneAgentAutoUpdated,
  needsAppInjection,
  needsOneAgentDaemonSet,
  oneAgentArguments,
  oneAgentModes,
  supportsReadOnlyHost,
} from './one-agent-facts.ts'

const HOST_MODES = ['classicFullStack', 'cloudNativeFullStack', 'hostMonitoring'] as const

describe('the OneAgent of a DynaKube', () => {
  it('has a mode when its key is set, even to an empty object, and not when it is null', () => {
    expect(oneAgentModes(dynakube({ oneAgent: { hostMonitoring: {} } }))).toEqual(['hostMonitoring'])
    expect(oneAgentModes(dynakube({ oneAgent: { hostMonitoring: null } }))).toEqual([])
    expect(oneAgentModes(dynakube())).toEqual([])
  })

  it('needs a DaemonSet, injects pods and spares the host depending on the mode', () => {
    const facts = [...HOST_MODES, 'applicationMonitoring' as const].map((mode) => {
      const object = dynakube({ oneAgent: { [mode]: {} } })
      return [needsOneAgentDaemonSet(object), needsAppInjection(object), supportsReadOnlyHost(object)]
    })
    expect(facts).toEqual([
      [true, false, false],
      [true, true, true],
      [true, false, true],
      [false, true, false],
    ])
  })

  it.each(HOST_MODES)('is updated in %s unless version or image is pinned', (mode) => {
    const isUpdated = (spec: object) => isOneAgentAutoUpdated(dynakube({ oneAgent: { [mode]: spec } }))
    expect([isUpdated({}), isUpdated({ version: '1' }), isUpdated({ image: 'i' })]).toEqual([true, false, false])
  })

  it('is not updated without an agent', () => {
    expect(isOneAgentAutoUpdated(dynakube({ oneAgent: { applicationMonitoring: {} } }))).toBe(false)
    expect(isOneAgentAutoUpdated(dynakube())).toBe(false)
  })

  it('prefers the host group of the field to that of the arguments', () => {
    const classicFullStack = { args: ['--set-host-group=arg'] }
    expect(hostGroup(dynakube({ oneAgent: { hostGroup: 'field', classicFullStack } }))).toBe('field')
    expect(hostGroup(dynakube({ oneAgent: { classicFullStack } }))).toBe('arg')
    expect(hostGroup(dynakube())).toBe('')
  })

  it('keeps everything after the first = of an argument, in order', () => {
    const args = ['--set-host-property=k=v', '--flag', '--set-host-property=a=b=c', '--set-host-property=']
    expect([...argumentValues(args)]).toEqual([
      ['--set-host-property', ['k=v', 'a=b=c', '']],
      ['--flag', ['']],
    ])
  })

  it('uses a fixed order when admission was bypassed and two modes are set', () => {
    const spec = (name: string) => ({ version: name, image: name, args: [name], nodeSelector: { name } })
    const object = dynakube({
      oneAgent: { cloudNativeFullStack: spec('cloud'), hostMonitoring: spec('host'), applicationMonitoring: {} },
    })
    expect(customVersion(object)).toBe('cloud')
    expect(customOneAgentImage(object)).toBe('host')
    expect(agentNodeSelector(object)).toEqual({ name: 'host' })
    expect(oneAgentArguments(object)).toEqual(['cloud'])
  })

  it('takes the nodes of the log agent without another agent', () => {
    const templates = { logMonitoring: { nodeSelector: { a: 'b' } } }
    expect(agentNodeSelector(dynakube({ logMonitoring: {}, templates }))).toEqual({ a: 'b' })
    expect(agentNodeSelector(dynakube({ templates }))).toBeUndefined()
    expect(
      agentNodeSelector(dynakube({ oneAgent: { hostMonitoring: {} }, logMonitoring: {}, templates })),
    ).toBeUndefined()
  })

  it('returns namespaces and init resources of the injecting mode', () => {
    const namespaceSelector = { matchLabels: { a: 'b' } }
    const object = dynakube({ oneAgent: { applicationMonitoring: { namespaceSelector, initResources: {} } } })
    expect(injectionNamespaceSelector(object)).toBe(namespaceSelector)
    expect(initResources(object)).toEqual({})
    expect(initResources(dynakube({ oneAgent: { cloudNativeFullStack: {} } }))).toBeUndefined()
  })
})
