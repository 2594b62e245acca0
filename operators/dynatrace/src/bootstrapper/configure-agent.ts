/** Writes the configuration with which the agent in each container of a pod works. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ContainerAttributes } from '../injection-contract/attributes.ts'
import { INPUT_FILES } from '../injection-contract/input-files.ts'
import { PRELOAD_FILE, preloadedLibrary } from '../injection-contract/paths.ts'
import { writeAtomically } from './atomic-file.ts'
import { imageOf } from './attributes.ts'
import { inputError } from './bootstrap-error.ts'
import { isMissing, readInput } from './input-files.ts'
import type { PodOptions } from './pod-options.ts'
import { mergeProcessConfig, sectionText } from './process-config.ts'

/** What processes load is the same for all containers of a pod: none may choose for the others. */
const WRITABLE_BY_OWNER = 0o644

/** The files of a pod that are the same for all of its containers. */
interface SharedFiles {
  readonly processConfig?: string
  readonly curlOptions?: string
  readonly certificates?: string
  readonly proxyCertificates?: string
}

/**
 * Writes the configuration. Does nothing without an input and an output directory. The agent itself is not modified.
 *
 * *Errors*: `BOOTSTRAP_INPUT`, and those of the file system.
 */
export function configureAgent(options: PodOptions): void {
  const { configDirectory, inputDirectory, installPath } = options
  if (configDirectory === '' || inputDirectory === '') return
  writeAtomically(join(configDirectory, PRELOAD_FILE), preloadedLibrary(installPath), WRITABLE_BY_OWNER)
  const containers = options.containers()
  // The files of the agent are not needed if no container needs them.
  if (containers.length === 0) return
  const shared = sharedFiles(options)
  for (const container of containers) configureContainer(options, container, shared)
}

function configureContainer(
  options: PodOptions,
  container: ContainerAttributes,
  { processConfig, curlOptions, certificates, proxyCertificates }: SharedFiles,
): void {
  const agent = join(options.configDirectory, container['k8s.container.name'], 'oneagent/agent')
  const writeKey = (name: string, content: string | undefined) => {
    if (content !== undefined) writeAtomically(join(agent, 'customkeys', name), content)
  }
  if (processConfig !== undefined) {
    writeAtomically(join(agent, 'config/ruxitagentproc.conf'), processConfig, WRITABLE_BY_OWNER)
  }
  writeAtomically(join(agent, 'config/container.conf'), containerConfig(options, container))
  writeKey('curl_options.conf', curlOptions)
  writeKey('custom.pem', certificates)
  writeKey('custom_proxy.pem', proxyCertificates)
}

function sharedFiles({ inputDirectory, target, installPath }: PodOptions): SharedFiles {
  const overrides = readInput(inputDirectory, INPUT_FILES.processModuleConfig)
  const retry = readInput(inputDirectory, INPUT_FILES.initialConnectRetry)
  const trusted = readInput(inputDirectory, INPUT_FILES.trustedCertificates) ?? ''
  const gateway = readInput(inputDirectory, INPUT_FILES.activeGateCertificate) ?? ''
  return {
    ...(overrides !== undefined && {
      processConfig: mergeProcessConfig(readShippedConfig(target), overrides, installPath),
    }),
    // Agents expect these two characters and not a line feed.
    ...(retry !== undefined && { curlOptions: `initialConnectRetryMs ${retry}\\n` }),
    ...((gateway !== '' || trusted !== '') && { certificates: `${gateway}\n${trusted}` }),
    ...(trusted !== '' && { proxyCertificates: trusted }),
  }
}

function readShippedConfig(target: string): string {
  const path = join(target, 'agent/conf/ruxitagentproc.conf')
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) throw inputError(`${path} does not exist: --target contains no agent`, error)
    throw error
  }
}

/** What the agent reports about its container. */
function containerConfig({ pod, isFullStack, tenant }: PodOptions, container: ContainerAttributes): string {
  if (isFullStack && tenant === '') throw inputError('--fullstack needs --tenant')
  const name = container['k8s.container.name']
  const settings: readonly (readonly [string, string])[] = [
    ['k8s_fullpodname', pod.known('k8s.pod.name')],
    ['k8s_poduid', pod.known('k8s.pod.uid')],
    ['k8s_namespace', pod.known('k8s.namespace.name')],
    ['k8s_cluster_id', pod.known('k8s.cluster.uid')],
    ['k8s_containername', name],
    // The earlier name of the same.
    ['containerName', name],
    ['imageName', imageOf(container)],
    ['k8s_node_name', isFullStack ? pod.known('k8s.node.name') : ''],
  ]
  const host: readonly (readonly [string, string])[] = [
    ['tenant', tenant],
    ['isCloudNativeFullStack', 'true'],
  ]
  const given = settings.filter(([, value]) => value !== '')
  return `${sectionText('container', given)}${isFullStack ? sectionText('host', host) : ''}`
}
