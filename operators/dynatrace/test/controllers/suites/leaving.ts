/** What is left of DynaKubes that are deleted: nothing. */
import { Namespaces, Secrets } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import { INSTANCE_LABEL } from '../../../src/controllers/dynakube/components/injection/map-namespaces.ts'
import { DynaKubes, FIXED_NAMES } from '../../../src/index.ts'
import type { ControllersStage } from '../../support/controllers-stage.ts'

/** The suite; `at` gives the stage once it is set. */
export function leavingSuite(at: () => ControllersStage): void {
  describe('a DynaKube that is deleted', () => {
    it('takes its objects with it, also those in other namespaces', async () => {
      const { client, namespace, owned } = at()
      const { items } = await client.list(DynaKubes, { namespace })
      const instances = items.map(({ metadata }) => metadata.name)
      expect(instances.sort()).toEqual(['classic', 'full', 'hosts', 'logs', 'pods'])
      const labelled = async () =>
        (await client.list(Namespaces)).items
          .filter(({ metadata }) => instances.includes(metadata.labels?.[INSTANCE_LABEL] ?? ''))
          .map(({ metadata }) => metadata.name)
      const teams = await labelled()
      expect(teams).toHaveLength(2)
      for (const name of instances) await client.delete(DynaKubes, { namespace, name })
      await at().until('no namespace to carry a name', async () => (await labelled()).length === 0)
      for (const team of teams) expect(await at().exists(Secrets, team, FIXED_NAMES.bootstrapperConfig)).toBe(false)
      for (const { metadata } of items) {
        await at().until(`nothing left of ${metadata.name}`, async () => (await owned(metadata.uid)).size === 0)
      }
    })
  })
}
