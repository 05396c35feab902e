"""Files as other harnesses write them, from items {image, question, truth, id, category} and a reply for each."""

import csv
import json
import zipfile

SHORT = "Answer the question using a single word or phrase."


def write_lines(file, rows):
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return [file]


def write_table(file, rows, delimiter):
    with file.open("w", encoding="utf-8", newline="") as stream:
        table = csv.DictWriter(stream, list(rows[0]), delimiter=delimiter)
        table.writeheader()
        table.writerows(rows)
    return [file]


def lmms_eval(folder, items, task="pope"):
    """`--log_samples` of lmms-eval 0.3 and later: the record of the data set and raw arguments are not kept."""
    rows = []
    hashes = {"doc_hash": "74234e98", "prompt_hash": "5feceb66", "target_hash": "6b86b273"}
    for number, item in enumerate(items):
        fact = {"question_id": str(item["id"]), "score": 1.0, "prediction": item["reply"], "ground_truth": "yes"}
        row = {"doc_id": number, "target": item["truth"], "filtered_resps": [item["reply"]], **hashes}
        facts = {"pope_accuracy": fact, "pope_yes_ratio": fact}
        rows.append({**row, **facts, "input": f"{item['question']}\n{SHORT}"})
    return write_lines(folder / f"20250109_075904_samples_{task}.jsonl", rows)


def lmms_eval_with_doc(folder, items, task="pope"):
    """`--log_samples` of earlier versions: with the record of the data set, but for what "image" is in the name of."""
    rows = []
    for number, item in enumerate(items):
        doc = {"id": str(number), "question_id": str(item["id"]), "question": item["question"]}
        doc |= {"answer": item["truth"], "category": item["category"]}
        arguments = [f"{item['question']}\n{SHORT}", {"max_new_tokens": 128, "until": ["\n\n"]}, task, "test"]
        row = {"doc_id": number, "doc": doc, "target": item["truth"], "arguments": arguments}
        replies = {"resps": [[item["reply"]]], "filtered_resps": [item["reply"].lower()]}
        rows.append({**row, **replies, "pope_accuracy": {"question_id": str(item["id"]), "score": 1.0}})
    return write_lines(folder / f"samples_{task}_2024-05-01T10-00-00.jsonl", rows)


def vlmevalkit_rows(items):
    return [
        {
            "index": number,
            "category": item["category"],
            "image_path": f"/root/LMUData/images/{item['image']}",
            "question": item["question"],
            "answer": item["truth"].capitalize(),
            "prediction": item["reply"],
        }
        for number, item in enumerate(items)
    ]


def vlmevalkit_tsv(folder, items):
    return write_table(folder / "LLaVA-v1.5_POPE.tsv", vlmevalkit_rows(items), "\t")


def vlmevalkit_json(folder, items):
    file = folder / "LLaVA-v1.5_POPE.json"
    file.write_text(json.dumps(vlmevalkit_rows(items), indent=4), encoding="utf-8")
    return [file]


def vlmevalkit_xlsx(folder, items):
    import openpyxl

    book = openpyxl.Workbook()
    rows = vlmevalkit_rows(items)
    book.active.append(list(rows[0]))
    for row in rows:
        book.active.append(list(row.values()))
    file = folder / "LLaVA-v1.5_POPE.xlsx"
    book.save(file)
    return [file]


def llava(folder, items):
    """LLaVA's `answers/*.jsonl`, and its file of questions, which names the images."""
    asked = [
        {"question_id": n, "image": one["image"], "text": f"{one['question']}\n{SHORT}", "category": one["category"]}
        for n, one in enumerate(items)
    ]
    answers = [
        {"question_id": number, "prompt": question["text"], "text": item["reply"], "answer_id": f"kT{number}"}
        | {"model_id": "llava-v1.5-13b", "metadata": {}}
        for number, (question, item) in enumerate(zip(asked, items, strict=True))
    ]
    return write_lines(folder / "llava-v1.5-13b.jsonl", answers) + write_lines(folder / "llava_pope_test.jsonl", asked)


def mme(folder, items, name="existence"):
    """MME's `eval_tool/answers/MODEL/existence.txt`; LLaVA's script writes .txt for the image's extension."""
    lines = [
        (item["image"].rpartition(".")[0] + ".txt", f"{item['question']} Please answer yes or no.", item["truth"])
        for item in items
    ]
    file = folder / f"{name}.txt"
    rows = ("\t".join((*line, item["reply"])) for line, item in zip(lines, items, strict=True))
    file.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return [file]


def inspect_samples(items):
    samples = []
    for number, item in enumerate(items, 1):
        content = [
            {"type": "text", "text": f"{item['question']} {SHORT}"},
            {"type": "image", "image": f"images/{item['image']}", "detail": "auto"},
        ]
        message = {"message": {"role": "assistant", "content": item["reply"]}, "stop_reason": "stop"}
        sample = {
            "id": number,
            "epoch": 1,
            "input": [{"role": "user", "source": "input", "content": content}],
            "target": item["truth"],
            "output": {"model": "gpt-4o", "choices": [message]},
            "scores": {"match": {"value": "C", "answer": item["reply"]}},
            "metadata": {"category": item["category"]},
        }
        samples.append(sample)
    return samples


HEAD = {"version": 2, "status": "success", "eval": {"task": "pope", "model": "openai/gpt-4o"}, "plan": {}}


def inspect_json(folder, items):
    file = folder / "2024-11-05T13-31-45_pope.json"
    file.write_text(json.dumps({**HEAD, "samples": inspect_samples(items)}), encoding="utf-8")
    return [file]


def inspect_eval(folder, items):
    file = folder / "2024-11-05T13-31-45_pope.eval"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(HEAD))
        for sample in inspect_samples(items):
            archive.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))
    return [file]


def plain_csv(folder, items):
    rows = [
        {"Image Name": item["image"], "Prompt": item["question"], "Response": item["reply"], "Label": item["truth"]}
        for item in items
    ]
    return write_table(folder / "outputs.csv", rows, ";")


def in_order(folder, items):
    """POPE's own form: the questions of its file in their order, each with the model's answer."""
    rows = [{"question": item["question"].lower(), "answer": item["reply"]} for item in items]
    return write_lines(folder / "answers.json", rows)


FORMS = {
    form.__name__: form
    for form in (
        *(lmms_eval, lmms_eval_with_doc, vlmevalkit_tsv, vlmevalkit_json, vlmevalkit_xlsx, llava, mme),
        *(inspect_json, inspect_eval, plain_csv),
    )
}
