/** Fuzzes the texts of request bodies: JSON and YAML. */
import { attempt, fuzz, jsonDocument, sameJson, textOf } from '@reeve/fuzz'
import fc from 'fast-check'
import { parseJson } from '../src/schema/parse.ts'
import { parseYaml } from '../src/schema/parse-yaml.ts'
import { StatusError } from '../src/status-error.ts'

const line = fc.constantFrom(
  'a: 1',
  'b: &x [1, 2]',
  'c: *x',
  '<<: *x',
  '- - - y',
  '? {a: b} : c',
  'd: |\n  text',
  'e: !!binary aGk=',
  'f: 0777',
  'g: 12:30',
  'h: .nan',
  '"\\ud800": 1',
  '---',
  '...',
  '# note',
  '  x: {a: [b, {c: d}]}',
)

fuzz('request-body', {
  inputs: fc.oneof(
    jsonDocument,
    fc.array(line, { maxLength: 8 }).map((lines) => lines.join('\n')),
  ),
  dictionary: [
    '&a ',
    '*a',
    '<<: ',
    '? ',
    ': ',
    '- ',
    '!!str ',
    '!!set ',
    '!!omap ',
    '|+\n',
    '>2\n',
    '%YAML 1.1\n',
    '---\n',
    '{',
    '[',
    '\n  ',
  ],
  isJson: true,
  run(input) {
    const text = textOf(input)
    const json = attempt(() => parseJson(text), StatusError)
    const yaml = attempt(() => parseYaml(text), StatusError)
    if (json !== undefined) {
      const { value } = json.value
      sameJson('a JSON body is JSON', JSON.parse(JSON.stringify(value)), value)
      sameJson('what is printed again has no duplicates', parseJson(JSON.stringify(value)).duplicates, [])
    } else if (yaml !== undefined) {
      const { value } = yaml.value
      sameJson('a YAML body is JSON', JSON.parse(JSON.stringify(value)), value)
    }
  },
})
