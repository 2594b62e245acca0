/** The public API of a package as text: every exported name with its declaration, without comments and bodies. */
import { join } from 'node:path'
import ts from 'typescript'

/** A package, and the sources of what it exports. */
export interface ApiPackage {
  readonly name: string
  readonly folder: string
  /** Subpath, such as `.` or `./cache`, and the file it names. */
  readonly exports: Readonly<Record<string, string>>
}

const VALUES = ts.SymbolFlags.Function | ts.SymbolFlags.Class | ts.SymbolFlags.Variable

/**
 * Describes packages, each by its declarations in the order of their names, so that a difference of two texts is a
 * difference of the API. Types of public signatures that nobody can import are listed first.
 *
 * *Assumptions*: the sources compile; that is another check.
 */
export function describeApis(packages: readonly ApiPackage[], options: ts.CompilerOptions): readonly string[] {
  const entries = packages.flatMap(({ folder, exports }) => Object.values(exports).map((file) => join(folder, file)))
  const program = ts.createProgram(entries, options)
  const checker = program.getTypeChecker()
  const exportsOf = (file: string): readonly ts.Symbol[] => {
    const source = program.getSourceFile(file)
    const module = source && checker.getSymbolAtLocation(source)
    if (module === undefined) return []
    return checker.getExportsOfModule(module).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  }
  const importable = new Set(entries.flatMap((file) => exportsOf(file).map((symbol) => target(checker, symbol))))
  return packages.map(({ name, folder, exports }) => {
    const hidden = new Set<string>()
    const types = new Set<ts.Symbol>()
    const values = new Set<ts.Symbol>()
    const parts = Object.entries(exports).map(([subpath, file]) => {
      const symbols = exportsOf(join(folder, file))
      const lines = symbols.map((symbol) => {
        const declared = target(checker, symbol)
        const isValue = (declared.flags & VALUES) !== 0 && !isTypeOnly(symbol)
        const seen = isValue ? values : types
        seen.add(declared)
        for (const type of hiddenTypes(checker, declared, isValue, importable)) {
          hidden.add(`${type} of ${symbol.name} in ${join(name, subpath)}`)
        }
        return declarationsOf(checker, symbol.name, declared, isValue)
      })
      return `// ${join(name, subpath)}\n\n${lines.join('\n\n')}\n`
    })
    const typesOnly = [...types].filter((type) => !values.has(type))
    const counts = `// ${values.size} functions, classes and constants; ${typesOnly.length} types`
    const missing = [...hidden].toSorted().map((type) => `// not importable: ${type}\n`)
    return [`${counts}\n${missing.join('')}`, ...parts].join('\n')
  })
}

function target(checker: ts.TypeChecker, symbol: ts.Symbol): ts.Symbol {
  return (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol)
}

/** Of a class that is exported as a type, users see instances only. */
function isTypeOnly({ declarations = [] }: ts.Symbol): boolean {
  return declarations.some((node) => ts.isTypeOnlyImportOrExportDeclaration(node))
}

const { factory: make } = ts
const printer = ts.createPrinter({ removeComments: true })

function declarationsOf(checker: ts.TypeChecker, name: string, symbol: ts.Symbol, isValue: boolean): string {
  const overloads = (symbol.declarations ?? []).filter((node) => !isImplementation(node, symbol))
  return overloads.map((node) => declarationOf(checker, name, node, isValue)).join('\n')
}

/** The body of overloaded functions is not part of their API. */
function isImplementation(node: ts.Declaration, { declarations = [] }: ts.Symbol): boolean {
  if (!ts.isFunctionDeclaration(node) || node.body === undefined) return false
  return declarations.some((other) => ts.isFunctionDeclaration(other) && other.body === undefined)
}

function declarationOf(checker: ts.TypeChecker, name: string, node: ts.Declaration, isValue: boolean): string {
  if (ts.isVariableDeclaration(node)) {
    const type = node.type?.getText() ?? checker.typeToString(checker.getTypeAtLocation(node), node, TYPE_FORMAT)
    return `const ${name}: ${type}`
  }
  if (ts.isSourceFile(node)) return `module ${name}`
  return printer
    .printNode(ts.EmitHint.Unspecified, withoutBodies(node, isValue), node.getSourceFile())
    .replace(/^export /, '')
}

const TYPE_FORMAT = ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.UseAliasDefinedOutsideCurrentScope

/** A parsed declaration cannot be changed, so functions and classes are made again. */
function withoutBodies(node: ts.Declaration, isValue: boolean): ts.Node {
  if (ts.isFunctionDeclaration(node)) {
    const { asteriskToken, name, typeParameters, parameters, type } = node
    return make.createFunctionDeclaration(
      withoutAsync(node),
      asteriskToken,
      name,
      typeParameters,
      parameters,
      type,
      undefined,
    )
  }
  if (!ts.isClassDeclaration(node)) return node
  const { modifiers, name, typeParameters, heritageClauses } = node
  const members = node.members.filter((member) => isVisible(member, isValue)).map(memberWithoutBody)
  return make.createClassDeclaration(modifiers, name, typeParameters, heritageClauses, members)
}

function memberWithoutBody(member: ts.ClassElement): ts.ClassElement {
  if (ts.isMethodDeclaration(member)) {
    const { asteriskToken: star, name, questionToken, typeParameters: generics, parameters, type } = member
    const modifiers = withoutAsync(member)
    return make.createMethodDeclaration(modifiers, star, name, questionToken, generics, parameters, type, undefined)
  }
  if (ts.isGetAccessorDeclaration(member)) {
    const { modifiers, name, parameters, type } = member
    return make.createGetAccessorDeclaration(modifiers, name, parameters, type, undefined)
  }
  if (ts.isConstructorDeclaration(member)) {
    return make.createConstructorDeclaration(member.modifiers, member.parameters, undefined)
  }
  if (ts.isPropertyDeclaration(member) && member.type !== undefined) {
    const { modifiers, name, questionToken, type } = member
    return make.createPropertyDeclaration(modifiers, name, questionToken, type, undefined)
  }
  return member
}

function withoutAsync({ modifiers }: ts.FunctionDeclaration | ts.MethodDeclaration): readonly ts.ModifierLike[] {
  return (modifiers ?? []).filter(({ kind }) => kind !== ts.SyntaxKind.AsyncKeyword)
}

function isPublic(member: ts.ClassElement): boolean {
  if (ts.isClassStaticBlockDeclaration(member) || (member.name && ts.isPrivateIdentifier(member.name))) return false
  const kinds = ts.canHaveModifiers(member) ? (ts.getModifiers(member) ?? []).map(({ kind }) => kind) : []
  return !kinds.includes(ts.SyntaxKind.PrivateKeyword)
}

function isVisible(member: ts.ClassElement, isValue: boolean): boolean {
  return isPublic(member) && (isValue || !ts.isConstructorDeclaration(member))
}

/** Names of types of this repository that a declaration mentions and no package exports. */
function hiddenTypes(
  checker: ts.TypeChecker,
  symbol: ts.Symbol,
  isValue: boolean,
  importable: ReadonlySet<ts.Symbol>,
): ReadonlySet<string> {
  const names = new Set<string>()
  const visit = (node: ts.Node): void => {
    if (ts.isBlock(node) || (ts.isClassElement(node) && !isVisible(node, isValue))) return
    if (ts.isTypeReferenceNode(node)) {
      const found = checker.getSymbolAtLocation(node.typeName)
      const type = found && target(checker, found)
      if (type && isOurs(type) && !importable.has(type)) names.add(type.name)
    }
    // What a constant is computed from is not part of its type.
    if (!ts.isVariableDeclaration(node)) ts.forEachChild(node, visit)
    else if (node.type !== undefined) visit(node.type)
  }
  for (const declaration of symbol.declarations ?? []) if (!ts.isSourceFile(declaration)) visit(declaration)
  return names
}

/** Declared at the top of one of our own modules: neither a type parameter nor of a library. */
function isOurs({ declarations = [] }: ts.Symbol): boolean {
  return declarations.some(({ parent }) => ts.isSourceFile(parent) && !parent.fileName.includes('/node_modules/'))
}
