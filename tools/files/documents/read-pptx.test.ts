import { expect, test } from 'vitest';
import { documentTools } from '../document-tools.ts';
import { loaded, pptxOf, shapeOf, zipOf } from '../testing/documents.ts';
import { taskPlace } from '../testing/task-place.ts';
import { reportPptx } from './pptx-report.ts';

const { read_pptx: readPptx } = documentTools;

test('reads slides in the order of the show, with tables, pictures and notes (REQ-044)', async () => {
  const cell = (text: string) => `<a:tc><a:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></a:txBody></a:tc>`;
  const bytes = await pptxOf([
    {
      shapes:
        shapeOf(['Animals'], 'title') + shapeOf(['crab &amp; lobster', 'snail']) + shapeOf(['1'], 'sldNum'),
      notes: 'say hello',
    },
    {
      shapes:
        `<p:grpSp>${shapeOf(['in a group'])}</p:grpSp>` +
        `<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tr>${cell('x')}${cell('y')}</a:tr><a:tr>${cell('1')}${cell('2|3')}</a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>` +
        '<p:pic><p:nvPicPr><p:cNvPr id="4" name="Picture 3" descr="a red boat"/></p:nvPicPr></p:pic>',
      isHidden: true,
    },
    {
      shapes:
        '<p:sp><p:txBody><a:p><a:r><a:t>one </a:t></a:r><a:r><a:t>line</a:t></a:r><a:br/><a:r><a:t>two</a:t></a:r></a:p></p:txBody></p:sp>',
    },
  ]);
  const { text } = await readPptx.run({ file: 'a.pptx' }, taskPlace({ 'a.pptx': bytes }));
  expect(text).toBe(
    [
      `./a.pptx: PowerPoint presentation, ${bytes.length} bytes, 3 slides`,
      '## Slide 1: Animals\ncrab & lobster\nsnail\nNotes:\nsay hello',
      '## Slide 2 (hidden)\nin a group\n| x | y |\n| --- | --- |\n| 1 | 2\\|3 |\n[picture: a red boat]',
      '## Slide 3\none line\ntwo',
    ].join('\n\n'),
  );
});

test('a package without a presentation, with broken XML, or with definitions of its own is refused', async () => {
  await expect(reportPptx(loaded('a.pptx', await zipOf({ a: 'b' })))).rejects.toThrow(
    'it has no ppt/presentation.xml',
  );
  await expect(
    reportPptx(loaded('a.pptx', await zipOf({ 'ppt/presentation.xml': '<a><b></a>' }))),
  ).rejects.toMatchObject({ code: 'tool' });
  const bomb = '<!DOCTYPE a [<!ENTITY x "xxxxxxxx"><!ENTITY y "&x;&x;&x;">]><a>&y;</a>';
  await expect(reportPptx(loaded('a.pptx', await zipOf({ 'ppt/presentation.xml': bomb })))).rejects.toThrow(
    'it has a DOCTYPE',
  );
});

test('groups in groups without end are refused', async () => {
  const bytes = await pptxOf([{ shapes: `${'<p:grpSp>'.repeat(5000)}${'</p:grpSp>'.repeat(5000)}` }]);
  await expect(reportPptx(loaded('a.pptx', bytes))).rejects.toMatchObject({ code: 'tool' });
});
