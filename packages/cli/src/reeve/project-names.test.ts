import { describe, expect, it, test } from 'vitest'
import { checkGroup, checkKind, checkName, checkPlural, nameOf, pluralOf } from './project-names.ts'

describe('names that cannot be used', () => {
  it.each([
    [checkGroup, 'example', /group "example": use a domain name in lower case/],
    [checkGroup, 'Example.com', /use a domain name in lower case/],
    [checkGroup, 'apps.k8s.io', /k8s.io and kubernetes.io belong to Kubernetes/],
    [checkGroup, '', /use a domain name/],
    [checkKind, 'shop', /kind "shop": use letters and digits, beginning with a capital/],
    [checkKind, 'Web-Shop', /use letters and digits/],
    [checkKind, 'Type', /the generated code uses this name/],
    [checkKind, '../../etc', /use letters and digits/],
    [checkName, 'Shop_Operator', /name "Shop_Operator": use lower-case letters, digits and dashes/],
    [checkName, '-shop', /beginning with a letter/],
    [checkName, 'a'.repeat(51), /at most 50/],
    [checkPlural, 'web-shops', /plural "web-shops": use lower-case letters and digits/],
  ])('%o %j', (check, value, message) => {
    expect(() => check(value)).toThrow(message)
  })
})

test('plurals and names follow from the kind', () => {
  expect(['Shop', 'Policy', 'Gateway', 'Class', 'Box', 'Branch'].map(pluralOf)).toEqual([
    'shops',
    'policies',
    'gateways',
    'classes',
    'boxes',
    'branches',
  ])
  expect(nameOf('WebShop')).toBe('web-shop-operator')
})
