/** Pull secrets, and images that cannot be pulled. */
import { startTenantSimulator } from '../../../../src/tenant/simulator/index.ts'
import { secret, TENANT } from '../healthy-stage.ts'
import { instead, type PlantedFault } from './planted-fault.ts'

/** Pull secrets, and images that cannot be pulled. */
export const IMAGE_FAULTS: readonly PlantedFault[] = [
  {
    name: 'the pull secret is missing',
    plant: (stage) => stage.editDynaKube({ customPullSecret: 'absent' }),
    check: 'dynakube',
    message: /pull secret dynatrace\/absent does not exist/,
    remedy: /kubectl create secret docker-registry absent/,
  },
  {
    name: 'the pull secret has another type',
    plant: instead(secret(`${TENANT}-pull-secret`, { password: 'x' })),
    check: 'dynakube',
    message: /has no key \.dockerconfigjson/,
    remedy: /check the log of the operator/,
  },
  {
    name: 'the pull secret is not a valid docker config',
    plant: instead(secret(`${TENANT}-pull-secret`, { '.dockerconfigjson': '{"auths":' })),
    check: 'dynakube',
    message: /images cannot be pulled: the pull secret dynatrace\/abc12345-pull-secret/,
    remedy: /delete it: the operator creates it again/,
  },
  {
    name: 'the certificate of the registry is not trusted',
    plant: async (stage) => {
      const other = await startTenantSimulator({ tenants: [{ id: TENANT }] })
      const image = `${other.registry.host}/dynatrace/dynatrace-activegate:1`
      const undo = await stage.editDynaKube({ activeGate: { capabilities: ['routing'], image } })
      return async () => {
        await undo()
        await other.close()
      }
    },
    check: 'dynakube.imagepull',
    message: /image of ActiveGate \(custom image\) cannot be pulled: .*certificate/,
    remedy: /spec\.trustedCAs/,
  },
  {
    name: 'the pull secret has the wrong password',
    plant: async (stage) => {
      const auths = { [stage.simulator.registry.host]: { auth: Buffer.from(`${TENANT}:wrong`).toString('base64') } }
      return instead(secret(`${TENANT}-pull-secret`, { '.dockerconfigjson': JSON.stringify({ auths }) }))(stage)
    },
    check: 'dynakube.imagepull',
    message: /image of OneAgent cannot be pulled: .*401/,
    remedy: /the pull secret/,
  },
  {
    name: 'an image does not exist',
    plant: (stage) =>
      stage.editDynaKube({
        activeGate: { capabilities: ['routing'], image: `${stage.simulator.registry.host}/dynatrace/absent:1` },
      }),
    check: 'dynakube.imagepull',
    message: /image of ActiveGate \(custom image\) cannot be pulled: .*404/,
    remedy: /check the name of the image/,
  },
]
