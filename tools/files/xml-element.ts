import { XMLParser } from 'fast-xml-parser';
import * as z from 'zod';

/** An element of an XML document: its name without, its attributes with their prefix. Texts are elements named `#text`. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly XmlElement[];
  readonly text: string;
}

/** Slides nest groups in groups; what is deeper than this was made to overflow a stack. */
const MAX_DEPTH = 200;

const nodesSchema = z.array(z.record(z.string(), z.unknown()));
const attributesSchema = z.record(z.string(), z.string());

/**
 * The root of an XML document, with everything in its order.
 *
 * @throws Error for what is no XML, and for XML with definitions of its own (DOCTYPE), which no program writes here
 */
export function parseXml(xml: string): XmlElement {
  if (/<!doctype/i.test(xml)) throw new Error('it has a DOCTYPE');
  const parser = new XMLParser({
    preserveOrder: true,
    ignoreAttributes: false,
    attributeNamePrefix: '',
    parseTagValue: false,
    parseAttributeValue: false,
    trimValues: false,
    maxNestedTags: MAX_DEPTH,
  });
  const nodes: unknown = parser.parse(xml, true);
  const root = childrenOf(nodes, 0).find(({ name }) => !name.startsWith('?') && name !== '#text');
  if (root === undefined) throw new Error('it has no element');
  return root;
}

/** All elements of that name below `element`, in order, itself included. */
export function elementsNamed(element: XmlElement, name: string): XmlElement[] {
  if (element.name === name) return [element];
  return element.children.flatMap((child) => elementsNamed(child, name));
}

function childrenOf(nodes: unknown, depth: number): XmlElement[] {
  if (depth > MAX_DEPTH) throw new Error(`its elements are nested deeper than ${MAX_DEPTH}`);
  return nodesSchema.parse(nodes).flatMap((node) => {
    const name = Object.keys(node).find((key) => key !== ':@');
    if (name === undefined) return [];
    const value = node[name];
    const attributes = attributesSchema.safeParse(node[':@'] ?? {}).data ?? {};
    if (name === '#text') return [{ name, attributes, children: [], text: String(value) }];
    return [
      {
        name: name.slice(name.indexOf(':') + 1),
        attributes,
        children: childrenOf(value, depth + 1),
        text: '',
      },
    ];
  });
}
