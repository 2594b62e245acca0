/** Fuzzes what helm prints when it fails. */
import { fuzz, textOf } from '@reeve/fuzz'
import fc from 'fast-check'
import { readFailure } from '../src/driver/read-failure.ts'
import { redactOutput, secretsInValues } from '../src/driver/redact-output.ts'

const line = fc.constantFrom(
  'Error: UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress',
  "Error: values don't meet the specifications of the schema(s) in the following chart(s):",
  "- at '/image/tag': got number, want string",
  '- image.tag: Invalid type',
  'Error: execution error at (web/templates/a.yaml:3:5): no',
  'Apply failed with 2 conflicts: conflicts with "boss" using apps/v1:',
  '- .spec.replicas',
  'WARNING: x',
  'Bearer abc.def.ghi',
  'https://user:pass@host/',
  'password: hunter2',
  'Basic dXNlcjpwYXNz',
)

fuzz('helm-output', {
  inputs: fc.array(line, { maxLength: 6 }).map((lines) => lines.join('\n')),
  dictionary: [
    'Error: ',
    'conflict with "',
    'using ',
    ': .',
    "- at '",
    'template: a:1',
    'Basic ',
    'Bearer ',
    '-----BEGIN PRIVATE KEY-----',
    '://',
    '@',
    '"',
    ': ',
  ],
  run(input) {
    const text = textOf(input)
    const stderr = redactOutput(text, ['hunter2', ...secretsInValues(text, true).slice(0, 20)])
    readFailure({ what: 'helm upgrade a/web', exitCode: 1, stderr })
  },
})
