/** Does what a step of a scenario file says. */
import { isRecord, type KubeObject, sleep } from '@reeve/kube'
import type { PlainObject, User } from '../operator-under-test.ts'
import { ScenarioError } from './scenario-fields.ts'
import type { GivenObject } from './scenario-file.ts'
import type { Action } from './scenario-steps.ts'

const POLL_MS = 100

/** Performs it as a user. */
export async function performAction(action: Action, user: User): Promise<void> {
  switch (action.type) {
    case 'apply':
      for (const object of action.objects) await user.put(object)
      return
    case 'patch':
      for (const object of action.objects) await patch(user, object, patchOf(object))
      return
    case 'delete':
      for (const object of action.objects)
        await user.client.delete(await user.client.resourceFor(object), keyOf(object))
      return
    case 'scale':
      await patch(user, action.object, { spec: { replicas: action.replicas } })
      return
    case 'wait':
      await waitFor(action, user)
  }
}

async function patch({ client }: User, object: GivenObject, change: PlainObject): Promise<void> {
  await client.patch(await client.resourceFor(object), keyOf(object), { type: 'merge', patch: change })
}

/** Everything but what names the object. */
function patchOf({ apiVersion, kind, metadata, ...rest }: GivenObject): PlainObject {
  const { name, namespace, ...others } = metadata as PlainObject
  return { ...rest, ...(Object.keys(others).length > 0 && { metadata: others }) }
}

function keyOf({ metadata: { name = '', namespace } }: KubeObject) {
  return { name, ...(namespace !== undefined && { namespace }) }
}

async function waitFor({ object, condition, timeoutMs }: Extract<Action, { type: 'wait' }>, { client }: User) {
  const resource = await client.resourceFor(object)
  for (let waitedMs = 0; waitedMs < timeoutMs; waitedMs += POLL_MS) {
    const { status } = (await client.get(resource, keyOf(object))) as KubeObject & { readonly status?: unknown }
    const conditions = isRecord(status) && Array.isArray(status.conditions) ? status.conditions : []
    if (conditions.some((one: unknown) => isRecord(one) && one.type === condition && one.status === 'True')) return
    await sleep(POLL_MS)
  }
  const { kind, metadata } = object
  throw new ScenarioError(`the condition ${condition} of ${kind} ${metadata.name} is not true within ${timeoutMs} ms`)
}
