/** The chart grants what the operator needs, as far as that follows from its definition. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { findClientBinary } from '@reeve/client-binaries'
import type { PolicyRule, UnknownObject } from '@reeve/kube'
import { missingRights } from '@reeve/runtime/operator'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { webAppOperator } from '../src/index.ts'

const CHART = fileURLToPath(new URL('../chart', import.meta.url))
const helm = await findClientBinary('helm')

describe.skipIf(helm === undefined)('the chart', () => {
  it('grants every right that the operator needs, and no other', async () => {
    const { stdout } = await promisify(execFile)(helm ?? '', ['template', 'webapp-operator', CHART, '-n', 'webapp'])
    const objects = parseAllDocuments(stdout).flatMap((document) => (document.toJS() as UnknownObject | null) ?? [])
    const rulesOf = (kind: string) =>
      objects.filter((object) => object.kind === kind).flatMap(({ rules }) => rules as readonly PolicyRule[])
    const webhook = { secret: 'webapp-operator-certificate', configurations: ['webapp-operator'] }
    const { clusterRole, roles } = webAppOperator.rbac({ namespace: 'webapp', webhook })
    const [role] = roles
    expect(missingRights(clusterRole.rules ?? [], rulesOf('ClusterRole'))).toEqual([])
    expect(missingRights(rulesOf('ClusterRole'), clusterRole.rules ?? [])).toEqual([])
    expect(missingRights(role?.rules ?? [], rulesOf('Role'))).toEqual([])
    expect(missingRights(rulesOf('Role'), role?.rules ?? [])).toEqual([])
  })
})
