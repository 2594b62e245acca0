/** Runs programs as users do: with their environment, not with that of an npm script of this repository. */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'

/** How a program ended. */
export interface Outcome {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Options of {@link run}. */
export interface RunOptions {
  readonly cwd: string
  /** The folder of the Node to use, before all others. @default that of the machine */
  readonly path?: string
  readonly env?: Readonly<Record<string, string>>
}

/** Runs a program to its end. */
export async function run(command: string, args: readonly string[], options: RunOptions): Promise<Outcome> {
  const child = start(command, args, options)
  const output = { stdout: '', stderr: '' }
  child.stdout?.on('data', (chunk) => (output.stdout += String(chunk)))
  child.stderr?.on('data', (chunk) => (output.stderr += String(chunk)))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, ...output }
}

/** Runs a program that must succeed, and returns what it prints. */
export async function succeed(command: string, args: readonly string[], options: RunOptions): Promise<string> {
  const { code, stdout, stderr } = await run(command, args, options)
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${stdout}\n${stderr}`)
  return stdout
}

/** Nobody types anything. */
const STDIO: StdioOptions = ['ignore', 'pipe', 'pipe']

/** Starts a program, as the first of a group of its own. */
export function start(command: string, args: readonly string[], { cwd, path, env }: RunOptions): ChildProcess {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|NODE_(?:ENV|OPTIONS|PATH)$|VITEST|INIT_CWD)/.test(name),
  )
  // npm scripts put the repository's own programs first.
  const folders = (process.env.PATH ?? '').split(':').filter((folder) => !folder.includes('node_modules'))
  const PATH = [...(path === undefined ? [] : [path]), ...folders].join(':')
  return spawn(command, [...args], {
    cwd,
    env: { ...Object.fromEntries(own), PATH, ...env },
    stdio: STDIO,
    detached: true,
  })
}

/** Stops a program and everything that it started, as Ctrl-C in a terminal does, and returns its exit code. */
export async function stop(program: ChildProcess): Promise<number | null> {
  if (program.exitCode !== null || program.pid === undefined) return program.exitCode
  const ended = once(program, 'close')
  process.kill(-program.pid, 'SIGINT')
  const [code] = (await ended) as [number | null]
  return code
}

/** Resolves when the program prints the text; rejects when it ends before. */
export function printed(program: ChildProcess, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = ''
    const read = (chunk: unknown) => {
      output += String(chunk)
      if (output.includes(text)) resolve()
    }
    program.stdout?.on('data', read)
    program.stderr?.on('data', read)
    program.once('close', (code) => reject(new Error(`ended with ${code}: ${output}`)))
  })
}
