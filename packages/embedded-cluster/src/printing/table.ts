/** Tables: the output of `kubectl get`, rendered by the server. */
import type { Clock } from '../clock.ts'
import type { TablePrinter } from '../http/render.ts'
import { isJsonObject, type JsonObject, objectAt } from '../json.ts'
import { groupResource, type ResourceInfo } from '../registry/resource-info.ts'
import { ageColumn, type Column, nameColumn } from './column.ts'
import * as core from './core-columns.ts'
import { customColumns } from './custom-columns.ts'
import * as network from './network-columns.ts'
import { podColumns } from './pod-columns.ts'
import * as policy from './policy-columns.ts'
import * as storage from './storage-columns.ts'
import * as workloads from './workload-columns.ts'

const columnsByResource: Readonly<Record<string, readonly Column[]>> = {
  configmaps: core.configMapColumns,
  endpoints: network.endpointsColumns,
  events: core.eventColumns,
  'events.events.k8s.io': core.eventColumns,
  limitranges: policy.createdAtColumns,
  namespaces: core.namespaceColumns,
  nodes: core.nodeColumns,
  persistentvolumeclaims: storage.claimColumns,
  persistentvolumes: storage.volumeColumns,
  pods: podColumns,
  podtemplates: workloads.podTemplateColumns,
  replicationcontrollers: workloads.replicationControllerColumns,
  resourcequotas: core.resourceQuotaColumns,
  secrets: core.secretColumns,
  services: network.serviceColumns,
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': policy.webhookColumns,
  'validatingwebhookconfigurations.admissionregistration.k8s.io': policy.webhookColumns,
  'customresourcedefinitions.apiextensions.k8s.io': policy.createdAtColumns,
  'controllerrevisions.apps': workloads.controllerRevisionColumns,
  'daemonsets.apps': workloads.daemonSetColumns,
  'deployments.apps': workloads.deploymentColumns,
  'replicasets.apps': workloads.replicaSetColumns,
  'statefulsets.apps': workloads.statefulSetColumns,
  'horizontalpodautoscalers.autoscaling': policy.autoscalerColumns,
  'cronjobs.batch': workloads.cronJobColumns,
  'jobs.batch': workloads.jobColumns,
  'certificatesigningrequests.certificates.k8s.io': policy.signingRequestColumns,
  'leases.coordination.k8s.io': core.leaseColumns,
  'endpointslices.discovery.k8s.io': network.endpointSliceColumns,
  'ingressclasses.networking.k8s.io': network.ingressClassColumns,
  'ingresses.networking.k8s.io': network.ingressColumns,
  'networkpolicies.networking.k8s.io': network.networkPolicyColumns,
  'runtimeclasses.node.k8s.io': policy.runtimeClassColumns,
  'poddisruptionbudgets.policy': policy.disruptionBudgetColumns,
  'clusterrolebindings.rbac.authorization.k8s.io': policy.bindingColumns,
  'clusterroles.rbac.authorization.k8s.io': policy.createdAtColumns,
  'rolebindings.rbac.authorization.k8s.io': policy.bindingColumns,
  'roles.rbac.authorization.k8s.io': policy.createdAtColumns,
  'priorityclasses.scheduling.k8s.io': policy.priorityClassColumns,
  'csidrivers.storage.k8s.io': storage.csiDriverColumns,
  'csinodes.storage.k8s.io': storage.csiNodeColumns,
  'storageclasses.storage.k8s.io': storage.storageClassColumns,
}

const plainColumns: readonly Column[] = [nameColumn, ageColumn]

/** The printer of one cluster. Columns of custom resources are compiled once per version of their definition. */
export function createTablePrinter(clock: Clock): TablePrinter {
  const custom = new WeakMap<ResourceInfo, readonly Column[]>()
  const columnsOf = (info: ResourceInfo): readonly Column[] => {
    if (!info.custom) return columnsByResource[groupResource(info)] ?? plainColumns
    let columns = custom.get(info)
    if (columns === undefined) {
      columns = customColumns(info)
      custom.set(info, columns)
    }
    return columns
  }
  return {
    table(info, objects, options) {
      const columns = columnsOf(info)
      const now = clock.now()
      const apiVersion = `meta.k8s.io/${options.version}`
      return {
        kind: 'Table',
        apiVersion,
        metadata: {},
        columnDefinitions: options.withColumns ? columns.map(definition) : null,
        rows: objects.map((object) => ({
          cells: columns.map((column) => column.cell(object, now)),
          ...rowConditions(info, object),
          ...rowObject(object, apiVersion, options.includeObject),
        })),
      }
    },
  }
}

function definition({ name, type, format, description, priority }: Column): JsonObject {
  return { name, type, format, description, priority }
}

/** Marks completed pods, so that clients can hide them. */
function rowConditions(info: ResourceInfo, object: JsonObject): JsonObject {
  if (info.kind !== 'Pod') return {}
  const { phase } = objectAt(object, 'status')
  if (phase !== 'Succeeded' && phase !== 'Failed') return {}
  const message = phase === 'Succeeded' ? 'The pod has completed successfully.' : 'The pod failed.'
  return { conditions: [{ type: 'Completed', status: 'True', reason: phase, message }] }
}

function rowObject(object: JsonObject, apiVersion: string, include: string): JsonObject {
  if (include === 'None') return { object: null }
  if (include === 'Object') return { object }
  const metadata = isJsonObject(object.metadata) ? object.metadata : {}
  return { object: { kind: 'PartialObjectMetadata', apiVersion, metadata } }
}
