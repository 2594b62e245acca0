/** The Dynatrace operators that are compared: ours as it ships, and the one that it replaces, where somebody has built it. */
import { execFile } from 'node:child_process'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { ALLOCATOR } from '@reeve/image'
import {
  CustomResourceDefinitions,
  Deployments,
  MutatingWebhookConfigurations,
  ValidatingWebhookConfigurations,
} from '@reeve/kube'
import { type DynatraceStage, NAMESPACE } from '../dynatrace-stage.ts'
import type { OperatorCommand } from './operator-process.ts'

const DYNATRACE = fileURLToPath(new URL('../../../operators/dynatrace', import.meta.url))
const MIB = 1024 ** 2
/** As in the chart: the limit of each container, and 60 % of it for old objects. */
const MEMORY_LIMIT_BYTES = { operator: 320 * MIB, 'webhook-server': 256 * MIB } as const
const NODE_OPTIONS = {
  operator: '--max-old-space-size=192',
  'webhook-server': '--max-semi-space-size=8 --max-old-space-size=154',
} as const
/** The version that the other operator compares with the label of its definitions. */
const VERSION = '1.8.1'
const WEBHOOK = 'dynatrace-webhook'

/** An operator that brings up DynaKubes. */
export interface DynatraceOperator {
  readonly name: string
  /** What its chart would have installed. */
  prepare(stage: DynatraceStage): Promise<void>
  /** @param part the subcommand, with its arguments; @default `operator` */
  command(stage: DynatraceStage, part?: 'operator' | 'webhook-server', args?: readonly string[]): OperatorCommand
}

/** Bundles our operator into a folder, as its image contains it. */
export async function reeveDynatrace(folder: string): Promise<DynatraceOperator> {
  await promisify(execFile)('npm', ['run', 'bundle'], { cwd: DYNATRACE, env: { ...process.env, OUTDIR: folder } })
  return {
    name: 'Reeve',
    prepare: async () => undefined,
    command: (stage, part = 'operator', args = []) => ({
      command: process.execPath,
      args: () => [join(folder, 'dynatrace-operator.js'), part, ...args],
      env: {
        ...environment(stage),
        ...ALLOCATOR,
        NODE_OPTIONS: NODE_OPTIONS[part],
        METRICS_BIND_ADDRESS: '127.0.0.1:0',
        HEALTH_PROBE_BIND_ADDRESS: '127.0.0.1:0',
      },
      memoryLimitBytes: MEMORY_LIMIT_BYTES[part],
      reconciles: /^controller_runtime_reconcile_total\{/,
    }),
  }
}

/**
 * The Dynatrace Operator 1.8.1 from a program that was built before: module proxies do not have all that it needs.
 * `undefined` without one.
 */
export async function referenceDynatrace(program: string | undefined): Promise<DynatraceOperator | undefined> {
  if (program === undefined) return undefined
  await access(program)
  return {
    name: 'Dynatrace Operator 1.8.1',
    prepare: installWebhookObjects,
    command: (stage, part = 'operator', args = []) => ({
      command: program,
      args: () => [part, ...args],
      env: { ...environment(stage), APP_VERSION: VERSION, DT_CRD_STORAGE_MIGRATION: 'false' },
      memoryLimitBytes: MEMORY_LIMIT_BYTES[part],
      reconciles: /^controller_runtime_reconcile_total\{/,
    }),
  }
}

const environment = ({ cluster }: DynatraceStage): Record<string, string> => ({
  KUBECONFIG: cluster.kubeconfigPath,
  POD_NAMESPACE: NAMESPACE,
  RUN_LOCAL: 'true',
  DT_OPERATOR_IMAGE: 'registry.example.com/operator:1.0.0',
})

/** It waits for these before it reconciles anything. */
async function installWebhookObjects({ client }: DynatraceStage): Promise<void> {
  const labels = { 'app.kubernetes.io/version': VERSION }
  for (const name of ['dynakubes.dynatrace.com', 'edgeconnects.dynatrace.com']) {
    await client.patch(CustomResourceDefinitions, { name }, { type: 'merge', patch: { metadata: { labels } } })
  }
  const metadata = { name: WEBHOOK }
  const api = 'admissionregistration.k8s.io/v1'
  await client.create(MutatingWebhookConfigurations, {
    apiVersion: api,
    kind: 'MutatingWebhookConfiguration',
    metadata,
  })
  await client.create(ValidatingWebhookConfigurations, {
    apiVersion: api,
    kind: 'ValidatingWebhookConfiguration',
    metadata,
  })
  const podLabels = { app: WEBHOOK }
  const containers = [{ name: 'webhook', image: 'registry.example.com/webhook:1.0.0' }]
  await client.create(Deployments, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { ...metadata, namespace: NAMESPACE },
    spec: {
      selector: { matchLabels: podLabels },
      template: { metadata: { labels: podLabels }, spec: { containers } },
    },
  })
}
