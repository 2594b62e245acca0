/** The programs that `kubectl exec` finds in a simulated container: a few that read the pod's spec, and no shell. */
import type { PodCommands } from '../rest/server-context.ts'
import type { Pod } from './kinds/pods.ts'
import { containerEnvironment, containerFiles, type ObjectLookup } from './pod-contents.ts'
import { asObject } from './resource-client.ts'

/** What a program prints, and its exit code. */
interface Outcome {
  readonly stdout?: string
  readonly stderr?: string
  readonly exitCode?: number
}

interface Container {
  readonly environment: ReadonlyMap<string, string>
  readonly files: ReadonlyMap<string, string>
  readonly hostname: string
  readonly readStdin: () => Promise<string>
}

type Program = (args: readonly string[], container: Container) => Outcome | Promise<Outcome>

const NOT_FOUND = 127

const programs: Readonly<Record<string, Program>> = {
  true: () => ({}),
  false: () => ({ exitCode: 1 }),
  echo: (args) => (args[0] === '-n' ? { stdout: args.slice(1).join(' ') } : { stdout: `${args.join(' ')}\n` }),
  pwd: () => ({ stdout: '/\n' }),
  hostname: (_args, { hostname }) => ({ stdout: `${hostname}\n` }),
  env: printEnvironment,
  printenv: printEnvironment,
  cat: printFiles,
  ls: listFiles,
  sleep: () => ({}),
  sh: runLine,
}

/** The commands of simulated pods; `lookup` finds the ConfigMaps and Secrets that a pod refers to. */
export function createPodCommands(lookup: ObjectLookup): PodCommands {
  return async (object, { container, command, readStdin }) => {
    const pod = asObject<Pod>(object)
    const outcome = await run(command, {
      environment: containerEnvironment(pod, container, lookup),
      files: containerFiles(pod, container, lookup),
      hostname: pod.metadata.name,
      readStdin,
    })
    return { stdout: outcome.stdout ?? '', stderr: outcome.stderr ?? '', exitCode: outcome.exitCode ?? 0 }
  }
}

function run([path = '', ...args]: readonly string[], container: Container): Outcome | Promise<Outcome> {
  const name = path.replace(/^(\/usr)?(\/local)?\/bin\//, '')
  const program = Object.hasOwn(programs, name) ? programs[name] : undefined
  if (program !== undefined) return program(args, container)
  const known = Object.keys(programs).join(', ')
  return {
    stderr: `exec: "${path}": executable file not found: simulated containers only have ${known}\n`,
    exitCode: NOT_FOUND,
  }
}

function printEnvironment(args: readonly string[], { environment }: Container): Outcome {
  const [name] = args
  if (name === undefined) return { stdout: [...environment].map(([key, value]) => `${key}=${value}\n`).join('') }
  const value = environment.get(name)
  return value === undefined ? { exitCode: 1 } : { stdout: `${value}\n` }
}

async function printFiles(args: readonly string[], { files, readStdin }: Container): Promise<Outcome> {
  if (args.length === 0) return { stdout: await readStdin() }
  const missing = args.filter((path) => !files.has(path))
  return {
    stdout: args.map((path) => files.get(path) ?? '').join(''),
    stderr: missing.map((path) => `cat: ${path}: No such file or directory\n`).join(''),
    exitCode: missing.length === 0 ? 0 : 1,
  }
}

/** `ls` and `ls -R1`: the simulated file system has only files with content, and the folders that contain them. */
function listFiles(args: readonly string[], { files }: Container): Outcome {
  const flags = args.filter((arg) => arg.startsWith('-')).join('')
  const [path = '/'] = args.filter((arg) => !arg.startsWith('-'))
  const root = path === '/' ? '' : path.replace(/\/+$/, '')
  if (files.has(root)) return { stdout: `${root}\n` }
  const entries = folderEntries(files, root)
  if (entries.size === 0) return { stderr: `ls: ${path}: No such file or directory\n`, exitCode: 2 }
  if (!flags.includes('R')) return { stdout: [...entries].map((name) => `${name}\n`).join('') }
  const sections: string[] = []
  const visit = (folder: string): void => {
    const names = [...folderEntries(files, folder)]
    sections.push(`${folder === '' ? '/' : folder}:\n${names.map((name) => `${name}\n`).join('')}`)
    for (const name of names) if (!files.has(`${folder}/${name}`)) visit(`${folder}/${name}`)
  }
  visit(root)
  return { stdout: sections.join('\n') }
}

function folderEntries(files: ReadonlyMap<string, string>, folder: string): Set<string> {
  const inside = [...files.keys()].filter((file) => file.startsWith(`${folder}/`))
  return new Set(inside.map((file) => file.slice(folder.length + 1).split('/', 1)[0] ?? '').toSorted())
}

/** `sh -c` with one simple command; operators of a shell are refused rather than misunderstood. */
function runLine(args: readonly string[], container: Container): Outcome | Promise<Outcome> {
  const [flag, line = ''] = args
  if (flag !== '-c') return { stderr: 'sh: simulated containers only run sh -c COMMAND\n', exitCode: 2 }
  const words = [...line.matchAll(/'([^']*)'|"([^"]*)"|([^\s'"]+)/g)].map(
    ([, single, double, plain]) => single ?? double ?? plain ?? '',
  )
  const exit = /^exit(?:\s+(\d{1,3}))?$/.exec(line.trim())
  if (exit !== null) return { exitCode: Number(exit[1] ?? 0) }
  if (words.some((word) => /^(\||\|\||&|&&|;|<|>|>>)$/.test(word)) || /[;|<>`$]/.test(line.replace(/'[^']*'/g, ''))) {
    return { stderr: 'sh: simulated containers run one simple command, without operators\n', exitCode: 2 }
  }
  return run(words, container)
}
