/** Validation of the status that controllers and kubelets report. */
import { describe, expect, it } from 'vitest'
import { type ApiResource, clusterResourceOf, resourceOf } from './support/api-resource.ts'
import { ConformanceApi, type Json, unique } from './support/conformance-api.ts'
import { deployment, pod, podTemplate } from './support/objects.ts'
import { invalid } from './support/status.ts'

const api = ConformanceApi.forThisFile()
const deployments = resourceOf(api, 'apps/v1', 'Deployment', 'deployments')
const replicaSets = resourceOf(api, 'apps/v1', 'ReplicaSet', 'replicasets')
const statefulSets = resourceOf(api, 'apps/v1', 'StatefulSet', 'statefulsets')
const daemonSets = resourceOf(api, 'apps/v1', 'DaemonSet', 'daemonsets')
const jobs = resourceOf(api, 'batch/v1', 'Job', 'jobs')
const pods = resourceOf(api, 'v1', 'Pod', 'pods')
const services = resourceOf(api, 'v1', 'Service', 'services')
const ingresses = resourceOf(api, 'networking.k8s.io/v1', 'Ingress', 'ingresses')
const claims = resourceOf(api, 'v1', 'PersistentVolumeClaim', 'persistentvolumeclaims')
const quotas = resourceOf(api, 'v1', 'ResourceQuota', 'resourcequotas')
const budgets = resourceOf(api, 'policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets')
const scalers = resourceOf(api, 'autoscaling/v2', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers')
const nodes = clusterResourceOf(api, 'v1', 'Node', 'nodes')
const namespaces = clusterResourceOf(api, 'v1', 'Namespace', 'namespaces')

const NOT_NEGATIVE = 'must be greater than or equal to 0'
const MORE_THAN_ALL = 'cannot be greater than status.replicas'

function report(of: ApiResource, name: string, status: Json) {
  return of.patch('merge', name, { status }, { subresource: 'status' })
}

/** An invalid value under `status`. */
function wrong(field: string, value: Json, why: string) {
  return {
    field: `status.${field}`,
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${JSON.stringify(value)}: ${why}`,
  }
}

/** An error of conditions, whose messages contain no value. */
function wrongConditions(why: string) {
  return { field: 'status.conditions', reason: 'FieldValueInvalid', message: `Invalid value: ${why}` }
}

function required(field: string, why: string) {
  return { field: `status.${field}`, reason: 'FieldValueRequired', message: `Required value: ${why}` }
}

/** A workload that requires no work from its controller. */
async function idle(of: ApiResource, more: Json = {}): Promise<string> {
  const name = unique('idle')
  const { spec } = deployment(name)
  const { metadata } = await of.given(name, { spec: { ...spec, ...more } })
  return metadata.name
}

async function unscheduled(spec: Json = {}): Promise<string> {
  const name = unique('pod')
  await pods.given(name, { spec: { ...pod(name).spec, schedulerName: 'nobody', ...spec } })
  return name
}

/** A job that its controller ignores. */
async function unmanaged(): Promise<string> {
  const name = unique('job')
  const template = podTemplate(name, { spec: { restartPolicy: 'Never' } })
  await jobs.given(name, { spec: { template, managedBy: 'example.com/nobody' } })
  return name
}

describe('the counts of', () => {
  it('a Deployment are not negative and do not exceed its replicas', async () => {
    const name = await idle(deployments)
    const counts = { replicas: 1, readyReplicas: 2, updatedReplicas: 3, availableReplicas: 4, unavailableReplicas: -1 }
    const { body } = await report(deployments, name, counts)
    expect(body).toEqual(
      invalid(
        'Deployment.apps',
        name,
        wrong('unavailableReplicas', -1, NOT_NEGATIVE),
        wrong('updatedReplicas', 3, MORE_THAN_ALL),
        wrong('readyReplicas', 2, MORE_THAN_ALL),
        wrong('availableReplicas', 4, MORE_THAN_ALL),
        wrong('availableReplicas', 4, 'cannot be greater than readyReplicas'),
      ),
    )
  })

  it('the collisions of a Deployment only increase', async () => {
    const name = await idle(deployments)
    expect((await report(deployments, name, { collisionCount: 3 })).status).toBe(200)
    const { body } = await report(deployments, name, { collisionCount: 2 })
    expect(body).toEqual(invalid('Deployment.apps', name, wrong('collisionCount', 2, 'cannot be decremented')))
  })

  it('a ReplicaSet do not exceed its replicas', async () => {
    const name = await idle(replicaSets)
    const { body } = await report(replicaSets, name, { replicas: 1, fullyLabeledReplicas: 2, availableReplicas: -1 })
    expect(body).toEqual(
      invalid(
        'ReplicaSet.apps',
        name,
        wrong('availableReplicas', -1, NOT_NEGATIVE),
        wrong('fullyLabeledReplicas', 2, MORE_THAN_ALL),
      ),
    )
  })

  it('a StatefulSet do not exceed its replicas', async () => {
    const name = await idle(statefulSets, { serviceName: 'none' })
    const { body } = await report(statefulSets, name, { replicas: 1, currentReplicas: 3, availableReplicas: 1 })
    expect(body).toEqual(
      invalid(
        'StatefulSet.apps',
        name,
        wrong('currentReplicas', 3, MORE_THAN_ALL),
        wrong('availableReplicas', 1, 'cannot be greater than status.readyReplicas'),
      ),
    )
  })

  it('a DaemonSet are not negative', async () => {
    const name = unique('idle')
    const template = podTemplate(name, { spec: { nodeSelector: { no: 'node' } } })
    await daemonSets.given(name, { spec: { selector: { matchLabels: { app: name } }, template } })
    const { body } = await report(daemonSets, name, { numberReady: -1, numberAvailable: -2 })
    expect(body).toEqual(
      invalid(
        'DaemonSet.apps',
        name,
        wrong('numberReady', -1, NOT_NEGATIVE),
        wrong('numberAvailable', -2, NOT_NEGATIVE),
      ),
    )
  })

  it('an autoscaler are not negative', async () => {
    const name = unique('scaler')
    const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'none' }
    await scalers.given(name, { spec: { scaleTargetRef, maxReplicas: 3 } })
    const { body } = await report(scalers, name, { currentReplicas: -1 })
    const kind = 'HorizontalPodAutoscaler.autoscaling'
    expect(body).toEqual(invalid(kind, name, wrong('currentReplicas', -1, NOT_NEGATIVE)))
  })

  it('a disruption budget are not negative, and its conditions are complete', async () => {
    const name = unique('budget')
    await budgets.given(name, { spec: { minAvailable: 1, selector: { matchLabels: { app: name } } } })
    const condition = { type: 'X', status: 'Bad', reason: '', message: '', lastTransitionTime: '2024-01-01T00:00:00Z' }
    const { body } = await report(budgets, name, { conditions: [condition], currentHealthy: -1 })
    const unsupported = 'Unsupported value: "Bad": supported values: "False", "True", "Unknown"'
    expect(body).toEqual(
      invalid(
        'PodDisruptionBudget.policy',
        name,
        { field: 'status.conditions[0].status', reason: 'FieldValueNotSupported', message: unsupported },
        { field: 'status.conditions[0].reason', reason: 'FieldValueRequired', message: 'Required value' },
        wrong('currentHealthy', -1, NOT_NEGATIVE),
      ),
    )
  })
})

describe('the status of a Job', () => {
  it('has at most as many ready pods as active ones', async () => {
    const name = await unmanaged()
    const { body } = await report(jobs, name, { active: 1, ready: 2 })
    expect(body).toEqual(invalid('Job.batch', name, wrong('ready', 2, 'cannot set more ready pods than active')))
  })

  it('is complete only with its times and the required earlier condition', async () => {
    const name = await unmanaged()
    const { body } = await report(jobs, name, { conditions: [{ type: 'Complete', status: 'True' }] })
    expect(body).toEqual(
      invalid(
        'Job.batch',
        name,
        required('completionTime', 'completionTime is required for Complete jobs'),
        wrongConditions('cannot set Complete=True condition without the SuccessCriteriaMet=true condition'),
        required('startTime', 'startTime is required for finished job'),
      ),
    )
  })

  it('counts a pod once', async () => {
    const name = await unmanaged()
    const { body } = await report(jobs, name, { uncountedTerminatedPods: { succeeded: ['a', 'a'], failed: ['a'] } })
    const at = 'status.uncountedTerminatedPods'
    const message = 'Duplicate value: "a"'
    expect(body).toEqual(
      invalid(
        'Job.batch',
        name,
        { field: `${at}.succeeded[1]`, reason: 'FieldValueDuplicate', message },
        { field: `${at}.failed[0]`, reason: 'FieldValueDuplicate', message },
      ),
    )
  })

  it('never withdraws its start or a failure', async () => {
    const name = await unmanaged()
    expect((await report(jobs, name, { startTime: '2024-01-01T00:00:00Z', failed: 2 })).status).toBe(200)
    const { body } = await report(jobs, name, { startTime: null, failed: 1 })
    expect(body).toEqual(
      invalid(
        'Job.batch',
        name,
        wrong('failed', 1, 'cannot decrease the failed counter'),
        required('startTime', 'startTime cannot be removed for unsuspended job'),
      ),
    )
  })
})

describe('the status of a Pod', () => {
  it('has valid addresses, one of each family', async () => {
    const name = await unscheduled()
    const text = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'
    const none = await report(pods, name, { podIPs: [{ ip: 'nowhere' }] })
    expect(none.body).toEqual(invalid('Pod', name, wrong('podIPs[0]', 'nowhere', text)))
    const { body } = await report(pods, name, { podIPs: [{ ip: '10.1.2.3' }, { ip: '10.1.2.4' }] })
    const shown = [{ IP: '10.1.2.3' }, { IP: '10.1.2.4' }]
    expect(body).toEqual(
      invalid('Pod', name, wrong('podIPs', shown, 'may specify no more than one IP for each IP family')),
    )
  })

  it('has one address that is the first of the list', async () => {
    const name = await unscheduled()
    const first = await report(pods, name, { podIP: '10.1.2.3' })
    expect(first.body.status).toMatchObject({ podIP: '10.1.2.3', podIPs: [{ ip: '10.1.2.3' }] })
    const { body } = await report(pods, name, { podIP: '10.1.2.4' })
    expect(body.status).toMatchObject({ podIP: '10.1.2.4', podIPs: [{ ip: '10.1.2.4' }] })
  })

  it('keeps its QoS class', async () => {
    const name = await unscheduled()
    const { body } = await report(pods, name, { qosClass: 'Guaranteed' })
    expect(body).toEqual(invalid('Pod', name, wrong('qosClass', 'Guaranteed', 'field is immutable')))
  })

  it('does not restart a container that must not be restarted', async () => {
    const name = await unscheduled({ restartPolicy: 'Never' })
    const container = { name: 'main', image: 'app', imageID: '', ready: false, restartCount: 0 }
    const ended = { ...container, state: { terminated: { exitCode: 1 } } }
    expect((await report(pods, name, { containerStatuses: [ended] })).status).toBe(200)
    const again = { ...container, state: { running: { startedAt: '2024-01-01T00:00:00Z' } } }
    const { body } = await report(pods, name, { containerStatuses: [again] })
    const message = 'Forbidden: may not be transitioned to non-terminated state'
    const field = 'status.containerStatuses[0].state'
    expect(body).toEqual(invalid('Pod', name, { field, reason: 'FieldValueForbidden', message }))
  })

  it('has valid names of conditions and nodes', async () => {
    const name = await unscheduled()
    const conditions = [{ type: 'not a name', status: 'True' }]
    const { status, body } = await report(pods, name, { conditions, nominatedNodeName: 'Not A Node' })
    expect(status).toBe(422)
    expect(body.details.causes.map((cause: Json) => cause.field)).toEqual([
      'status.conditions[0].Type',
      'status.nominatedNodeName',
    ])
  })
})

describe('the status of', () => {
  it('a Service has ingress points only for a load balancer', async () => {
    const name = unique('service')
    await services.given(name, { spec: { ports: [{ port: 80 }] } })
    const { body } = await report(services, name, { loadBalancer: { ingress: [{ ip: '10.1.2.3' }] } })
    const message = "Forbidden: may only be used when `spec.type` is 'LoadBalancer'"
    const field = 'status.loadBalancer.ingress'
    expect(body).toEqual(invalid('Service', name, { field, reason: 'FieldValueForbidden', message }))
  })

  it('an Ingress has ingress points with addresses and names', async () => {
    const name = unique('ingress')
    await ingresses.given(name, { spec: { defaultBackend: { service: { name: 'none', port: { number: 80 } } } } })
    const ingress = [{ ip: 'nowhere' }, { hostname: '10.1.2.3' }]
    const { body } = await report(ingresses, name, { loadBalancer: { ingress } })
    const at = 'loadBalancer.ingress'
    expect(body).toEqual(
      invalid(
        'Ingress.networking.k8s.io',
        name,
        wrong(`${at}[0].ip`, 'nowhere', 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'),
        wrong(`${at}[1].hostname`, '10.1.2.3', 'must be a DNS name, not an IP address'),
      ),
    )
  })

  it('a claim has no negative capacity', async () => {
    const name = unique('claim')
    const resources = { requests: { storage: '1Gi' } }
    await claims.given(name, { spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'none', resources } })
    const { body } = await report(claims, name, { capacity: { storage: '-1' } })
    const why = 'must be a valid resource quantity'
    expect(body).toEqual(invalid('PersistentVolumeClaim', name, wrong('capacity[storage]', -1, why)))
  })

  it('a Node has no negative capacity and no duplicate address', async () => {
    const name = unique('node')
    await nodes.given(name, { spec: { unschedulable: true } })
    const address = { type: 'InternalIP', address: '10.1.2.3' }
    const { body } = await report(nodes, name, {
      capacity: { cpu: '-1' },
      allocatable: { cpu: '-1' },
      addresses: [address, address],
    })
    await nodes.delete(name)
    const message = 'Duplicate value: {"Type":"InternalIP","Address":"10.1.2.3"}'
    expect(body).toEqual(
      invalid('Node', name, wrong('capacity.cpu', '-1', NOT_NEGATIVE), wrong('allocatable.cpu', '-1', NOT_NEGATIVE), {
        field: 'status.addresses[1]',
        reason: 'FieldValueDuplicate',
        message,
      }),
    )
  })

  it('a Namespace is active until it is deleted', async () => {
    const { body } = await report(namespaces, api.namespace, { phase: 'Terminating' })
    const why = "may only be 'Active' if `deletionTimestamp` is empty"
    expect(body).toEqual(invalid('Namespace', api.namespace, wrong('Phase', 'Terminating', why)))
  })

  it('a quota has integer counts', async () => {
    const name = unique('quota')
    await quotas.given(name, { spec: { hard: { 'limits.cpu': '1000' } } })
    const { body } = await report(quotas, name, { used: { pods: '1.5' } })
    expect(body).toEqual(invalid('ResourceQuota', name, wrong('used[pods]', '1500m', 'must be an integer')))
  })
})
