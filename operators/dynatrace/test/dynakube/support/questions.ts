/** Common queries of tests. */
import { isNotFound, type KubeObject, type ObjectKey, type Resource, Secrets, type Stored } from '@reeve/kube'
import { decodeSecret } from '../../../src/controllers/rendering/secret-data.ts'
import type { ReceivedCall } from '../../../src/tenant/simulator/index.ts'
import { NAMESPACE, type Stage } from './stage.ts'

/** An object in the namespace of the operator. */
export const key = (name: string): ObjectKey => ({ namespace: NAMESPACE, name })

/** On DynaKubes whose gateways need no certificate of the operator: generating a key takes seconds. */
export const WITHOUT_KEY = { 'feature.dynatrace.com/automatic-tls-certificate': 'false' } as const

/** Waits until a DynaKube has been worked on without an error. */
export const settled = (stage: Stage, name: string): Promise<void> =>
  stage.until(async () => {
    const { status } = await stage.read(name)
    return status?.phase !== undefined && status.phase !== 'Error'
  })

/** Waits until all objects of a DynaKube are ready: then nothing changes anymore. */
export const running = (stage: Stage, name: string): Promise<void> =>
  stage.until(async () => (await stage.read(name)).status?.phase === 'Running')

/** Waits until a DynaKube is in error. */
export const inError = (stage: Stage, name: string): Promise<void> =>
  stage.until(async () => (await stage.read(name)).status?.phase === 'Error')

/** The calls of a tenant since the log was cleared. */
export const callsOf = (stage: Stage, tenant: string): readonly ReceivedCall[] =>
  stage.simulator.calls().filter((call) => call.tenant === tenant)

/** The names of these calls. */
export const operations = (stage: Stage, tenant: string): readonly string[] =>
  callsOf(stage, tenant).map(({ operation }) => operation)

/** An object, or `undefined` if it does not exist. */
export async function find<T extends KubeObject>(
  { client }: Stage,
  resource: Resource<T>,
  name: string,
): Promise<Stored<T> | undefined> {
  try {
    return await client.get(resource, key(name))
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

/** The data of a Secret, or `undefined` if it does not exist. */
export async function secretData(stage: Stage, name: string): Promise<Readonly<Record<string, string>> | undefined> {
  const secret = await find(stage, Secrets, name)
  return secret && decodeSecret(secret.data)
}
