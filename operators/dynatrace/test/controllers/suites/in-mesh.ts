/** Istio's objects on the embedded or a real cluster: a real server checks what is written, and by whom. */
import type { KubeObject } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import { ISTIO_KINDS } from '../../../src/controllers/dynakube/components/istio/resources.ts'
import { installIstio } from '../../dynakube/support/istio-crds.ts'
import type { ControllersStage } from '../../support/controllers-stage.ts'

const NAME = 'in-mesh'

/** The suite; `at` gives the stage once it is set, without the CRDs of Istio. */
export function inMeshSuite(at: () => ControllersStage): void {
  describe('a DynaKube in a mesh', () => {
    async function ofIstio(): Promise<readonly string[]> {
      const { client, namespace } = at()
      const lists = await Promise.all(ISTIO_KINDS.map((kind) => client.list<KubeObject>(kind, { namespace })))
      return lists.flatMap(({ items }) => items.map(({ kind, metadata }) => `${kind}/${metadata.name}`)).sort()
    }

    it('has a way out that is created once, follows its tenant and is removed', async () => {
      const stage = at()
      await installIstio(stage.client)
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
