/** The arguments of the agent. They contain no tokens, which are files. */
import { hasActiveGate } from '../../../../api/dynakube/active-gate-facts.ts'
import { isMode, oneAgentArguments } from '../../../../api/dynakube/one-agent-facts.ts'
import { hasProxy, oneAgentUsesProxy } from '../../../../api/dynakube/proxy.ts'
import { featureFlags } from '../../../../api/feature-flags.ts'
import type { DynaKube } from '../../../../api/latest.ts'
import { byKey, byPriority, type Prioritised } from '../../../rendering/container-env.ts'
import { activeGateHosts } from '../../no-proxy.ts'
import { isOlderThan } from '../versions/agent-version.ts'

/** Operator, user, and what even the user cannot override by an argument, because there is a field for it. */
const PRIORITY = { operator: 1, user: 2, field: 10 } as const

/** May be given several times, each time with another value. */
const REPEATABLE = new Set(['--set-host-property', '--set-host-tag'])

/** The value of an argument; `undefined` when it stands without one. */
type Argument = Prioritised<string | undefined>

/** The arguments in the order in which they are passed: by name, then by who gave them. */
export function agentArguments(dynakube: DynaKube): readonly string[] {
  const given = [...operatorArguments(dynakube), ...userArguments(dynakube), ...fieldArguments(dynakube)]
  const single = byPriority(given.filter(({ key }) => !REPEATABLE.has(key)))
  const repeated = distinct(given.filter(({ key }) => REPEATABLE.has(key)))
  return [...single, ...repeated].sort(byKey).map(({ key, value }) => (value === undefined ? key : `${key}=${value}`))
}

/** Whether the agent gets the proxy by its command line: newer ones read it from a file. */
export const takesProxyArgument = (dynakube: DynaKube): boolean =>
  oneAgentUsesProxy(dynakube) && isOlderThan(dynakube.status?.oneAgent?.version, 1, 273)

function operatorArguments(dynakube: DynaKube): readonly Argument[] {
  const { networkZone } = dynakube.spec
  const own = (key: string, value: string): Argument => ({ key, value, priority: PRIORITY.operator })
  return [
    ...proxyArguments(dynakube).map((value) => own('--set-proxy', value)),
    own('--set-no-proxy', noProxy(dynakube)),
    ...(networkZone ? [own('--set-network-zone', networkZone)] : []),
    own('--set-host-property', 'OperatorVersion=$(DT_OPERATOR_VERSION)'),
    own('--set-tenant', '$(DT_TENANT)'),
    own('--set-server', '{$(DT_SERVER)}'),
    own('--set-host-id-source', isMode(dynakube, 'classicFullStack') ? 'auto' : 'k8s-node-name'),
  ]
}

/** An empty value makes the agent remove a configured proxy. */
function proxyArguments(dynakube: DynaKube): readonly string[] {
  if (!oneAgentUsesProxy(dynakube)) return ['']
  return takesProxyArgument(dynakube) ? ['$(https_proxy)'] : []
}

function noProxy(dynakube: DynaKube): string {
  const flag = hasProxy(dynakube) ? featureFlags(dynakube).noProxy : ''
  const gateways = hasActiveGate(dynakube) ? activeGateHosts(dynakube) : []
  return [flag, ...gateways].filter((part) => part !== '').join(',')
}

function userArguments(dynakube: DynaKube): readonly Argument[] {
  return oneAgentArguments(dynakube).flatMap((argument) => {
    const at = argument.indexOf('=')
    const key = at < 0 ? argument : argument.slice(0, at)
    if (key === '') return []
    return [{ key, value: at < 0 ? undefined : argument.slice(at + 1), priority: PRIORITY.user }]
  })
}

function fieldArguments({ spec }: DynaKube): readonly Argument[] {
  const group = spec.oneAgent?.hostGroup
  return group ? [{ key: '--set-host-group', value: group, priority: PRIORITY.field }] : []
}

/** Each value of a key once, the operator's before the user's. */
function distinct(entries: readonly Argument[]): readonly Argument[] {
  const seen = new Set<string>()
  return entries.filter(({ key, value }) => {
    const argument = `${key}=${value}`
    if (seen.has(argument)) return false
    seen.add(argument)
    return true
  })
}
