/** What a DynaKube selects and refers to. */
import { ConfigMaps, Secrets } from '@reeve/kube'
import { DynaKubes } from '../../../../src/index.ts'
import { secret } from '../healthy-stage.ts'
import { addDynaKube, key, type PlantedFault, without } from './planted-fault.ts'

/** What a DynaKube selects and refers to. */
export const DYNAKUBE_FAULTS: readonly PlantedFault[] = [
  {
    name: 'two DynaKubes select the same namespace',
    plant: (stage) =>
      addDynaKube(stage, {
        metadataEnrichment: { enabled: true, namespaceSelector: { matchLabels: { team: 'shop' } } },
      }),
    check: 'namespaces',
    message: /namespace shop would be injected or enriched by abc12345 and second/,
    remedy: /refine their namespaceSelectors/,
  },
  {
    name: 'a DynaKube selects no namespace',
    plant: (stage) =>
      stage.editDynaKube({
        oneAgent: { applicationMonitoring: { namespaceSelector: { matchLabels: { team: 'nobody' } } } },
      }),
    check: 'namespaces',
    status: 'warning',
    message: /DynaKube dynatrace\/abc12345 selects no namespace/,
    remedy: /check its namespaceSelector, the labels of the namespaces/,
  },
  {
    name: 'the ConfigMap of trusted certificates is missing',
    plant: without(ConfigMaps, key('tenant')),
    check: 'dynakube',
    message: /spec\.trustedCAs: the ConfigMap dynatrace\/tenant has no key certs/,
    remedy: /add it/,
  },
  {
    name: 'the certificate of gateways is in a Secret that does not exist',
    plant: ({ editDynaKube }) => editDynaKube({ activeGate: { capabilities: ['routing'], tlsSecretName: 'absent' } }),
    check: 'dynakube',
    message: /spec\.activeGate\.tlsSecretName: the Secret dynatrace\/absent does not exist/,
    remedy: /create it, or correct spec\.activeGate\.tlsSecretName/,
  },
  {
    name: 'the Secret with properties of gateways lacks its key',
    plant: async ({ apply, client, editDynaKube }) => {
      await apply(secret('properties', { other: 'value' }))
      const undo = await editDynaKube({
        activeGate: { capabilities: ['routing'], customProperties: { valueFrom: 'properties' } },
      })
      return async () => {
        await undo()
        await client.delete(Secrets, key('properties'))
      }
    },
    check: 'dynakube',
    message: /the Secret dynatrace\/properties has no key customProperties/,
    remedy: /add it/,
  },
  {
    name: 'a DynaKube waits for a finalizer of a program that is gone',
    plant: async (stage) => {
      const { client } = stage
      await addDynaKube(stage, {})
      const finalizers = (names: readonly string[]) =>
        client.patch(DynaKubes, key('second'), { type: 'merge', patch: { metadata: { finalizers: names } } })
      await finalizers(['example.com/keep'])
      await client.delete(DynaKubes, key('second'))
      return async () => void (await finalizers([]))
    },
    check: 'dynakube',
    message: /is being deleted since .*, and waits for the finalizers example\.com\/keep/,
    remedy: /check the log of the operator/,
  },
]
