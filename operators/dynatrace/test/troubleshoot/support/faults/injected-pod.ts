/** Pods that are not injected. */
import { Pods } from '@reeve/kube'
import { pod, secret } from '../healthy-stage.ts'
import type { PlantedFault } from './planted-fault.ts'

/** Pods that are not injected. */
export const POD_FAULTS: readonly PlantedFault[] = [
  {
    name: 'the pod opts out of injection',
    plant: async ({ apply, client }) => {
      await apply(pod('silent', { 'dynatrace.com/inject': 'false' }))
      return async () => void (await client.delete(Pods, { namespace: 'shop', name: 'silent' }))
    },
    args: ['--pod', 'shop/silent'],
    check: 'pod',
    status: 'warning',
    message: /does not get code modules/,
    remedy: /change Pod metadata\.annotations\[dynatrace\.com\/inject\]/,
  },
  {
    name: 'the pod is older than the DynaKube',
    plant: async ({ apply, client }) => {
      await apply(pod('old'))
      await apply({
        ...secret('dynatrace-bootstrapper-config', {}),
        metadata: { namespace: 'shop', name: 'dynatrace-bootstrapper-config' },
      })
      await apply({
        ...secret('dynatrace-bootstrapper-certs', {}),
        metadata: { namespace: 'shop', name: 'dynatrace-bootstrapper-certs' },
      })
      return async () => void (await client.delete(Pods, { namespace: 'shop', name: 'old' }))
    },
    args: ['--pod', 'shop/old'],
    check: 'pod',
    message: /does not have code modules, although it would get them now/,
    remedy: /recreate the pod/,
  },
  {
    name: 'no DynaKube selects the namespace of the pod',
    plant: async ({ apply, client }) => {
      await apply({ ...pod('x'), metadata: { namespace: 'elsewhere', name: 'x' } })
      return async () => void (await client.delete(Pods, { namespace: 'elsewhere', name: 'x' }))
    },
    args: ['--pod', 'elsewhere/x'],
    check: 'pod',
    message: /no DynaKube selects the namespace elsewhere/,
    remedy: /namespaceSelector/,
  },
]
