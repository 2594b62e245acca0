/** What a picture shows of the output of the demo: the resources all the way, and of other objects how they end. */
import { stripVTControlCharacters } from 'node:util'

/** Kinds of the operators themselves. */
const RESOURCES = /^(?:WebApp|Collector|DynaKube|EdgeConnect) /

/**
 * Picks lines of the demo's output. Pods are left out: their names are random, and Deployments say how many are ready.
 *
 * *Errors*: throws if the output is not that of a demo that succeeded.
 */
export function storyExcerpt(output: string): readonly string[] {
  const lines = output.trimEnd().split('\n')
  const start = lines.findIndex((line) => stripVTControlCharacters(line).startsWith('WebApp:'))
  const end = lines.findIndex((line) => stripVTControlCharacters(line).startsWith('the samples are ready'))
  if (start === -1 || end === -1) throw new Error('the samples of the demo did not become ready')
  const story = lines.slice(start, end + 1)
  const subjects = story.map(subjectOf)
  return story.filter((_, index) => {
    const subject = subjects[index]
    if (subject === undefined || RESOURCES.test(subject)) return true
    return !subject.startsWith('Pod ') && subjects.lastIndexOf(subject) === index
  })
}

/** Kind and name of the object that a line is about; `undefined` for other lines. */
function subjectOf(line: string): string | undefined {
  return /^ *\d+\.\d s +(\S+ \S+)/.exec(stripVTControlCharacters(line))?.[1]
}

/**
 * What a picture says about the end of the demo that this output does not: objects and their states.
 *
 * @example
 * expect(missingFrom(output, linesInPicture(svg))).toEqual([])
 */
export function missingFrom(output: string, picture: readonly string[]): readonly string[] {
  const happened = new Set(storyExcerpt(output).map(factOf))
  const subjects = picture.map(subjectOf)
  // Phases in between depend on timing.
  const ends = picture.filter((_, index) => {
    const subject = subjects[index]
    return subject === undefined || subjects.lastIndexOf(subject) === index
  })
  return ends.filter((line) => !line.startsWith('$ ') && !happened.has(factOf(line)))
}

/** A line without its time and details. */
function factOf(line: string): string {
  const words = stripVTControlCharacters(line).trim().split(/\s+/)
  return subjectOf(line) === undefined ? words.join(' ') : words.slice(2, 5).join(' ')
}
