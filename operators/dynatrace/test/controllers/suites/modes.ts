/** One DynaKube per mode of the OneAgent, and one that only reads logs, side by side. */
import { DaemonSets, Namespaces, Secrets } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import { INSTANCE_LABEL } from '../../../src/controllers/dynakube/components/injection/map-namespaces.ts'
import { FIXED_NAMES } from '../../../src/index.ts'
import type { ControllersStage } from '../../support/controllers-stage.ts'

/** The suite; `at` gives the stage once it is set. */
export function modesSuite(at: () => ControllersStage): void {
  const agents = async (name: string) => {
    const { client, namespace } = at()
    return client.get(DaemonSets, { namespace, name: `${name}-oneagent` })
  }

  describe('each mode', () => {
    let team: string
    const label = () => `pods-${at().namespace}`

    it('runs what it stands for', async () => {
      const { placement } = at()
      team = await at().addTeam(label())
      await at().create('classic', { oneAgent: { classicFullStack: placement } })
      await at().create('hosts', { oneAgent: { hostMonitoring: placement } })
      await at().create('pods', {
        oneAgent: { applicationMonitoring: { namespaceSelector: { matchLabels: { team: label() } } } },
      })
      await at().create('logs', {
        logMonitoring: {},
        templates: {
          logMonitoring: { imageRef: { repository: 'registry.example.com/logs', tag: '1' }, ...placement },
        },
      })
      for (const name of ['classic', 'hosts', 'pods', 'logs']) {
        await at().until(`${name} to run`, at().hasPhase(name, 'Running'))
      }
    })

    it('has agents on its nodes where hosts are observed', async () => {
      const { client, namespace } = at()
      for (const name of ['classic-oneagent', 'hosts-oneagent', 'logs-logmonitoring']) {
        // A phase is derived from what the DaemonSet controller has counted so far.
        await at().until(`${name} on two nodes`, async () => {
          const { status } = await client.get(DaemonSets, { namespace, name })
          return status?.desiredNumberScheduled === 2 && status.numberReady === 2
        })
      }
    })

    it('mounts the file system of the host in classic mode, and its own storage in the others', async () => {
      const volumes = async (name: string) => (await agents(name)).spec?.template.spec?.volumes ?? []
      const hasCsi = (all: Awaited<ReturnType<typeof volumes>>) => all.some(({ csi }) => csi != null)
      expect(hasCsi(await volumes('classic'))).toBe(false)
      expect(hasCsi(await volumes('hosts'))).toBe(true)
    })

    it('has no agents on nodes where only pods are observed, but gives namespaces their Secrets', async () => {
      const { exists, namespace, client } = at()
      expect(await exists(DaemonSets, namespace, 'pods-oneagent')).toBe(false)
      expect((await client.get(Namespaces, { name: team })).metadata.labels).toMatchObject({ [INSTANCE_LABEL]: 'pods' })
      expect(await exists(Secrets, team, FIXED_NAMES.bootstrapperConfig)).toBe(true)
    })

    it('is replaced by another one completely', async () => {
      const { exists, namespace, client, placement } = at()
      await at().edit('pods', { oneAgent: { applicationMonitoring: null, hostMonitoring: placement } })
      await at().until('agents on nodes', () => exists(DaemonSets, namespace, 'pods-oneagent'))
      await at().until('the namespace to be released', async () => {
        const { metadata } = await client.get(Namespaces, { name: team })
        return metadata.labels?.[INSTANCE_LABEL] === undefined
      })
      expect(await exists(Secrets, team, FIXED_NAMES.bootstrapperConfig)).toBe(false)
      await at().until('the phase Running', at().hasPhase('pods', 'Running'))
    })
  })
}
