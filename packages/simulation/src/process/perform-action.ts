/** Does what a step of a scenario file says. */
import { isApiError, isRecord, type KubeObject, sleep } from '@reeve/kube'
import type { PlainObject, User } from '../operator-under-test.ts'
import { ScenarioError } from './scenario-fields.ts'
import type { GivenObject } from './scenario-file.ts'
import type { Action } from './scenario-steps.ts'

const POLL_MS = 100

/** How long users try again while the operator that serves the webhooks is restarting. */
const WEBHOOK_PATIENCE_MS = 60_000

/** Performs it as a user, who tries again when a webhook of the operator cannot be called. */
export async function performAction(action: Action, user: User): Promise<void> {
  const { client } = user
  switch (action.type) {
    case 'apply':
      for (const object of action.objects) await whileWebhooksStart(() => user.put(object))
      return
    case 'patch':
      for (const object of action.objects) await patch(user, object, patchOf(object))
      return
    case 'delete':
      for (const object of action.objects) {
        const resource = await client.resourceFor(object)
        await whileWebhooksStart(() => client.delete(resource, keyOf(object)))
      }
      return
    case 'scale':
      await patch(user, action.object, { spec: { replicas: action.replicas } })
      return
    case 'wait':
      await waitFor(action, user)
  }
}

async function patch({ client }: User, object: GivenObject, change: PlainObject): Promise<void> {
  const resource = await client.resourceFor(object)
  await whileWebhooksStart(() => client.patch(resource, keyOf(object), { type: 'merge', patch: change }))
}

/** The operator that serves the webhooks may have been killed, and not have started again. */
async function whileWebhooksStart(request: () => Promise<unknown>): Promise<void> {
  const deadline = performance.now() + WEBHOOK_PATIENCE_MS
  const isToRepeat = async (error: unknown) => {
    const isAway = isApiError(error) && error.status === 500 && error.message.includes('failed calling webhook')
    if (!isAway || performance.now() > deadline) throw error
    await sleep(POLL_MS)
    return true
  }
  while (await request().then(() => false, isToRepeat));
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
