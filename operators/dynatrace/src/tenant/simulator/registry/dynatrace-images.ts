/** The images that a tenant and the public registry of the vendor offer, small but with the right layout. */
import { type AgentDescription, agentFiles, agentManifest, md5Of } from '../agent/agent-files.ts'
import type { ByteSource } from '../http/response.ts'
import type { Architecture, ImageDescription, LayerFile } from './image.ts'

/** Where the agent lies in an image of code modules. */
const AGENT_FOLDER = 'opt/dynatrace/oneagent/'

const API_ARCHITECTURES: Readonly<Record<Architecture, string>> = {
  amd64: 'x86',
  arm64: 'arm',
  ppc64le: 'ppcle',
  s390x: 's390',
}

/** An image of code modules: one layer with the agent and the program that copies it. */
export function codeModulesImage(version: string, sizeBytes: number): ImageDescription {
  return {
    labels: labels('codemodules', version),
    entrypoint: ['/opt/dynatrace/bin/bootstrap'],
    files(architecture) {
      const agent: AgentDescription = {
        version,
        arch: API_ARCHITECTURES[architecture],
        flavor: architecture === 'amd64' || architecture === 'arm64' ? 'multidistro' : 'default',
        technologies: ['all'],
        sizeBytes,
      }
      const files = agentLayer(agent)
      return [
        ...folders(AGENT_FOLDER),
        ...folders('opt/dynatrace/bin/').slice(2),
        program('opt/dynatrace/bin/bootstrap'),
        ...files,
      ]
    },
  }
}

/** An image with one program: enough for everything that only pulls it. */
export function programImage(type: string, version: string, path: string): ImageDescription {
  const folder = path.slice(0, path.lastIndexOf('/') + 1)
  return {
    labels: labels(type, version),
    entrypoint: [`/${path}`],
    files: () => [...folders(folder), program(path)],
  }
}

function labels(type: string, version: string): Readonly<Record<string, string>> {
  return { 'com.dynatrace.type': type, 'com.dynatrace.build-version': version, vendor: 'simulator' }
}

function agentLayer(agent: AgentDescription): readonly LayerFile[] {
  const digests = new Map<string, string>()
  const load = ({ path, mode, content }: { path: string; mode: number; content: ByteSource }): LayerFile => {
    const bytes = inMemory(content)
    const md5 = md5Of()
    md5.add(bytes)
    digests.set(path, md5.digest())
    return { path: `${AGENT_FOLDER}${path}`, mode, content: bytes }
  }
  const files = agentFiles(agent).map(load)
  return [...files, load(agentManifest(agent, (path) => digests.get(path) ?? ''))]
}

function inMemory({ read, sizeBytes }: ByteSource): Buffer {
  const chunks = read(0, sizeBytes)
  if (!(Symbol.iterator in chunks)) throw new TypeError('a file of an image must be created synchronously')
  return Buffer.concat([...chunks])
}

function program(path: string): LayerFile {
  return { path, mode: 0o755, content: Buffer.from('#!/bin/sh\nexec sleep infinity\n') }
}

/** `a/b/` → `a/`, `a/b/`: unpackers do not make folders by themselves. */
function folders(path: string): readonly LayerFile[] {
  const names = path.split('/').slice(0, -1)
  return names.map((_name, index) => ({
    path: `${names.slice(0, index + 1).join('/')}/`,
    mode: 0o755,
    content: Buffer.alloc(0),
  }))
}
