/** Reads which values a chart's schema rejects. */
import type { ValueProblem } from '../errors.ts'

/** `- at '/image/tag': got number, want string`, as Helm writes since 3.18. */
const POINTER_LINE = /^\s*- at '([^']*)': (.*)$/

/** `- image.tag: Invalid type. Expected: string, given: integer`, as it wrote before. */
const DOTTED_LINE = /^\s*- (\(root\)|[^\s:]+): (.*)$/

/** One problem per line of Helm's report. */
export function valueProblems(reason: string): readonly ValueProblem[] {
  return reason.split('\n').flatMap((line) => {
    const [, pointer, message] = POINTER_LINE.exec(line) ?? []
    if (pointer !== undefined && message !== undefined) return [{ path: fromPointer(pointer), message }]
    const [, dotted, older] = DOTTED_LINE.exec(line) ?? []
    if (dotted !== undefined && older !== undefined)
      return [{ path: dotted === '(root)' ? '' : dotted, message: older }]
    return []
  })
}

/** `/image/pull~1policy` becomes `image.pull/policy`, the way people write paths into values. */
function fromPointer(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.')
}
