/** Istio's objects on the embedded or a real cluster: a real server checks what is written, and by whom. */
import type { KubeObject } from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ISTIO_KINDS } from '../../../src/controllers/dynakube/components/istio/resources.ts'
import { installIstio } from '../../dynakube/support/istio-crds.ts'
import { type ControllersStage, setControllersStage } from '../../support/controllers-stage.ts'

const NAME = 'in-mesh'

/** Comes after the suites for which Istio must not be there: its CRDs are for the whole cluster, and stay. */
export function inMeshSuite(): void {
  describe('in a mesh', () => {
    let stage: ControllersStage
    beforeAll(async () => {
      stage = await setControllersStage([NAME])
      // They stay, because other suites may need them.
      await installIstio(stage.client)
    })
    afterAll(() => stage?.[Symbol.asyncDispose]())

    async function ofIstio(): Promise<readonly string[]> {
      const lists = await Promise.all(
        ISTIO_KINDS.map((kind) => stage.client.list<KubeObject>(kind, { namespace: stage.namespace })),
      )
      return lists.flatMap(({ items }) => items.map(({ kind, metadata }) => `${kind}/${metadata.name}`)).sort()
    }

    it('the way out of a mesh is made once, followed and taken back', async () => {
      const { connectionInfo } = stage.simulator.tenant(NAME)
      connectionInfo.endpoints = ['https://10.0.0.1:8000/communication', 'https://x.io:443/communication']
      const namespaceSelector = { matchLabels: { team: NAME } }
      await stage.create(NAME, { enableIstio: true, oneAgent: { applicationMonitoring: { namespaceSelector } } })
      await stage.until('a phase', stage.hasPhase(NAME, 'Running'))
      const expected = [
        `ServiceEntry/${NAME}-fqdn-oneagent`,
        `ServiceEntry/${NAME}-ip-oneagent`,
        `ServiceEntry/${NAME}-ip-operator`,
        `VirtualService/${NAME}-fqdn-oneagent`,
      ]
      expect(await ofIstio()).toEqual(expected)
      await stage.settle(NAME)
      expect(await stage.reconcile(NAME)).toEqual([])

      connectionInfo.endpoints = ['https://y.io:443/communication', 'https://y.io:9999/communication']
      stage.advance(16 * 60_000)
      await stage.until('the other hosts', async () => {
        await stage.reconcile(NAME)
        return !(await ofIstio()).includes(`ServiceEntry/${NAME}-ip-oneagent`)
      })

      await stage.edit(NAME, { enableIstio: false })
      await stage.until('nothing left', async () => (await ofIstio()).length === 0)
    })
  })
}
